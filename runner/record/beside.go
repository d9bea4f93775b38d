package record

// Beside is what a decision takes from another session, of the same machine and
// versions: numbers of levels, which no verdict of that session stands for. Who is better
// is said by the verdicts of the session that is decided on, and by nothing here.
type Beside struct {
	Session    string          `json:"session"`
	Kind       Kind            `json:"kind"`
	PlanSHA256 string          `json:"plan_sha256,omitempty"`
	Floors     []FloorLevel    `json:"memory_floors,omitempty"`
	Capacities []CapacityLevel `json:"capacities,omitempty"`
	Notes      []string        `json:"notes,omitempty"` // what stands beside the decision and enters no bill
}

// FloorLevel is the memory limit that a replica of a target needs.
type FloorLevel struct {
	Target string  `json:"target"`
	Arm    string  `json:"arm"`          // the target as it comes or told of its limit, whichever needs less
	Bytes  Span    `json:"bytes"`        // the floor, the largest limit that failed, and the floor or the end of its interval
	Rate   float64 `json:"rate_per_sec"` // that was met with it
	SLO    string  `json:"slo"`
}

// CapacityLevel is the highest rate that a replica of a target meets an SLO at, without
// any work of the service's own.
type CapacityLevel struct {
	Target string `json:"target"`
	Rate   Span   `json:"rate_per_sec"`
	SLO    string `json:"slo"`
}
