package record

// Primary is one test of the primary family: a question that was fixed before the
// first run. Everything else a session measures is exploratory and gets no
// verdict.
type Primary struct {
	Metric         string  `json:"metric"` // the name that summaries use
	Scenario       string  `json:"scenario"`
	Target         string  `json:"target"`
	Base           string  `json:"base"`
	HigherIsBetter bool    `json:"higher_is_better"`
	MarginRatio    float64 `json:"margin_ratio"` // ratios within 1/(1+m)..1+m do not matter
	// Floor, in the metric's unit: a difference below it does not matter, whatever the ratio.
	Floor float64 `json:"floor,omitempty"`
	// ServerBound: the row means something only where the server was the limit.
	ServerBound bool `json:"server_bound,omitempty"`
}

// Probe is a short closed loop before the first block. It finds the capacity
// that the open loop's rate is a share of; nothing else is read from it.
type Probe struct {
	Target         string  `json:"target"`
	CapacityPerSec float64 `json:"capacity_per_sec"`
	Run            Run     `json:"run"`
}

// Verdict is the answer to one primary test.
type Verdict struct {
	Primary      Primary  `json:"primary"`
	Word         string   `json:"verdict"` // BETTER, WORSE, EQUIVALENT, INCONCLUSIVE, INVALID: of the target against its base
	Why          string   `json:"why"`
	Ratio        *float64 `json:"ratio,omitempty"` // target / base
	Lo           *float64 `json:"ratio_lo,omitempty"`
	Hi           *float64 `json:"ratio_hi,omitempty"` // 95 % interval
	P            *float64 `json:"p,omitempty"`        // exact signed-rank, alone
	Adjusted     *float64 `json:"p_adjusted,omitempty"`
	Blocks       int      `json:"blocks"`
	NoiseFloor   *float64 `json:"noise_floor_ratio,omitempty"` // |ratio - 1| that the A/A twin shows
	BlocksNeeded *int     `json:"blocks_needed,omitempty"`
}
