package record

import "time"

// Answer is what a decision comes to. There are five.
type Answer string

const (
	Go           Answer = "GO"
	GoForPart    Answer = "GO FOR A PART"
	ClusterFirst Answer = "CLUSTER FIRST"
	NoGo         Answer = "NO-GO"
	NotProven    Answer = "NOT PROVEN"
)

// DecisionRules say, before the first run, what a decision may rest on.
type DecisionRules struct {
	// Pairs are the comparisons that may carry a decision, each with as many CPUs
	// on both sides: Go against Node, never Go on all CPUs against Node on one.
	Pairs []DecisionPair `json:"pairs"`
	// SavingMin is the least saving that matters, as a share of the bill that it is
	// a saving of. The end of its interval that saves least has to reach it.
	SavingMin float64 `json:"saving_min_ratio"`
	// CPUTarget is the share of its CPUs that a replica is planned to use at the
	// peak, unless the user's inputs say another.
	CPUTarget float64 `json:"cpu_target_ratio"`
	// OwnWork are the CPU times of a request's own work that gains are shown for.
	OwnWork []time.Duration `json:"own_work_ns"`
}

// DecisionPair is a Go target and a Node target on as many cores.
type DecisionPair struct {
	Target string `json:"target"`
	Base   string `json:"base"`
	Cores  int    `json:"cores"`
}

// DecisionInputs are what no measurement can know of the user's service. Absent is
// unknown: nothing is put in its place. The names are those of the user's file.
type DecisionInputs struct {
	Replicas      *int           `json:"replicas,omitempty"`                   // that run today
	Binds         string         `json:"binds,omitempty"`                      // what decides their number: cpu, memory, availability or latency
	MinReplicas   *int           `json:"min_replicas,omitempty"`               // that availability asks for
	VCPUs         *int           `json:"vcpus_per_replica,omitempty"`          // that are paid for
	NodeProcesses *int           `json:"node_processes_per_replica,omitempty"` // 1, or the workers of a cluster
	PricePerVCPU  *float64       `json:"price_per_vcpu_month,omitempty"`
	PricePerGiB   *float64       `json:"price_per_gib_month,omitempty"`
	Currency      string         `json:"currency,omitempty"`
	PeakRate      *float64       `json:"peak_rate_per_sec,omitempty"`   // of the whole service
	SLO           *float64       `json:"slo_p99_ms,omitempty"`          // of a whole request, own work included
	OwnCPU        *float64       `json:"own_cpu_ms,omitempty"`          // CPU time a request of the service's own code, in either language
	OwnIO         *float64       `json:"own_io_ms,omitempty"`           // time a request waits for others
	OwnMemory     *float64       `json:"own_memory_mib,omitempty"`      // of a process: data that it has to hold in either language
	ReplicaMemory *float64       `json:"replica_memory_mib,omitempty"`  // limit of a replica
	CPUTarget     *float64       `json:"cpu_target_ratio,omitempty"`    // in place of DecisionRules.CPUTarget
	EffortDays    *float64       `json:"effort_days,omitempty"`         // of the migration
	CostPerDay    *float64       `json:"cost_per_effort_day,omitempty"` //
	HorizonMonths *float64       `json:"horizon_months,omitempty"`      // in which it has to pay
	Parts         []DecisionPart `json:"parts,omitempty"`               // that could be rewritten by themselves
}

// DecisionPart is a part of the service that could become a service of its own.
// What it leaves out is as in the whole.
type DecisionPart struct {
	Name        string   `json:"name"`
	Replicas    *int     `json:"replicas,omitempty"`
	MinReplicas *int     `json:"min_replicas,omitempty"`
	PeakRate    *float64 `json:"peak_rate_per_sec,omitempty"`
	OwnCPU      *float64 `json:"own_cpu_ms,omitempty"`
	OwnIO       *float64 `json:"own_io_ms,omitempty"`
	OwnMemory   *float64 `json:"own_memory_mib,omitempty"`
	EffortDays  *float64 `json:"effort_days,omitempty"`
}

// Decision is the record of a decision. It follows from one session and one set
// of inputs alone: no clock and no machine has a part in it.
type Decision struct {
	SchemaVersion int            `json:"schema_version"`
	Session       string         `json:"session"`
	PlanSHA256    string         `json:"plan_sha256,omitempty"`
	Question      string         `json:"question"`
	Answer        Answer         `json:"answer"`
	Why           []string       `json:"why"` // the first decides
	Missing       []Missing      `json:"missing,omitempty"`
	If            []string       `json:"if,omitempty"` // what would follow from the inputs that are missing
	Rules         *DecisionRules `json:"rules,omitempty"`
	Primary       []Primary      `json:"primary"`
	Inputs        DecisionInputs `json:"inputs"`
	Beside        []Beside       `json:"beside,omitempty"` // what was taken from other sessions
	Whole         *Assessment    `json:"whole,omitempty"`
	Parts         []Assessment   `json:"parts,omitempty"`
	Verdicts      []Verdict      `json:"verdicts"`
	Levels        []Level        `json:"levels,omitempty"`
	Clustering    []Clustering   `json:"clustering,omitempty"`
	CapacityTimes []CapacityTime `json:"capacity_times,omitempty"`
	Gains         []Gain         `json:"gains,omitempty"`
	Rejected      []Rejected     `json:"rejected,omitempty"`
	Warnings      []string       `json:"warnings,omitempty"` // what the session warns of
	NotMeasured   []string       `json:"not_measured"`
	Expiry        Expiry         `json:"expiry"`
}

// Missing is an input that the user has not given.
type Missing struct {
	Input string `json:"input"`
	For   string `json:"for"` // what cannot be told without it
}

// Span is a number with its 95 % interval. Lo is the smaller number.
type Span struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Assessment is the answer for the whole service, or for a part.
type Assessment struct {
	Name    string   `json:"name,omitempty"`
	Answer  Answer   `json:"answer"`
	Why     []string `json:"why"`
	Options []Option `json:"options,omitempty"`
	Against string   `json:"against,omitempty"` // the option that a rewrite is held against
	// Saving is of Go against that option, in the currency of the inputs, a month.
	Saving      *Span    `json:"saving_per_month,omitempty"`
	SavingRatio *Span    `json:"saving_ratio,omitempty"` // of that option's bill
	Cost        *float64 `json:"migration_cost,omitempty"`
	// ClusterSaving is what clustering alone saves of today's bill; absent where it
	// is no option.
	ClusterSaving *Span `json:"cluster_saving_per_month,omitempty"`
	// BreakEven is absent where nothing is saved. At its Hi end that may be so too:
	// then BreakEvenNever is set, and Hi means nothing.
	BreakEven      *Span `json:"break_even_months,omitempty"`
	BreakEvenNever bool  `json:"break_even_may_never_come,omitempty"`
}

// Option is one way to run the service at its peak.
type Option struct {
	Name         string `json:"name"` // today, cluster, go
	Target       string `json:"target"`
	CoresUsed    int    `json:"cores_used_per_replica"`
	VCPUs        int    `json:"vcpus_per_replica"`
	ByCPU        Span   `json:"replicas_by_cpu"` // whole numbers
	ByMemory     *Span  `json:"replicas_by_memory,omitempty"`
	ByOther      int    `json:"replicas_by_availability"` // or by latency, where that binds
	Replicas     Span   `json:"replicas"`
	MemoryBytes  Span   `json:"memory_bytes"` // of all replicas
	BillPerMonth Span   `json:"bill_per_month"`
}

// Level is the typical value of one metric of one target: the median over its
// processes, and the smallest and the largest of them.
type Level struct {
	Target    string  `json:"target"`
	Scenario  string  `json:"scenario"`
	Metric    string  `json:"metric"`
	Median    float64 `json:"median"`
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Processes int     `json:"processes"`
}

// Clustering is what a Node cluster changes against one Node process. The plan asks
// no primary question about it, so it has an interval and no verdict.
type Clustering struct {
	Metric   string `json:"metric"`
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Base     string `json:"base"`
	Ratio    Span   `json:"ratio"`            // target / base
	Reached  bool   `json:"interval_reached"` // too few blocks carry no 95 % interval
	Blocks   int    `json:"blocks"`
	Shared   bool   `json:"shared,omitempty"`
}

// CapacityTime is 1e9 / rate in nanoseconds. It is neither latency nor CPU time.
type CapacityTime struct {
	Scenario   string  `json:"scenario"`
	Target     string  `json:"target"`
	Base       string  `json:"base"`
	TargetTime float64 `json:"target_ns"` // median over processes
	BaseTime   float64 `json:"base_ns"`
	// Saved is base - target, paired by block: below 0 the target takes longer. It is
	// the median over so many blocks, with the smallest and the largest.
	Saved    float64 `json:"saved_ns"`
	SavedMin float64 `json:"saved_min_ns"`
	SavedMax float64 `json:"saved_max_ns"`
	Blocks   int     `json:"blocks"`
	// Shares are of Saved in a request with that much own work, with its sign.
	OwnWork []time.Duration `json:"own_work_ns"`
	Shares  []float64       `json:"share_ratio"`
}

// Gain is how many times less of something a whole request takes with Go, own
// work included: (W + base) / (W + target).
type Gain struct {
	Metric string        `json:"metric"`
	Target string        `json:"target"`
	Base   string        `json:"base"`
	CPU    time.Duration `json:"own_cpu_ns"`
	IO     time.Duration `json:"own_io_ns,omitempty"` // in latency alone: waiting takes no CPU
	Yours  bool          `json:"yours,omitempty"`
	Gain   Span          `json:"gain"`
}

// Rejected is a number that a reader may meet and that decides nothing.
type Rejected struct {
	What   string `json:"what"`
	Number string `json:"number,omitempty"`
	Why    string `json:"why"`
}

// Expiry is what the decision holds for. It ends when any of these changes.
type Expiry struct {
	Runtimes       map[string]string `json:"runtimes"` // version by target, as the live process said
	CPUModel       string            `json:"cpu_model"`
	CPUs           int               `json:"cpus"`
	Kernel         string            `json:"kernel,omitempty"`
	Hypervisor     string            `json:"hypervisor,omitempty"`
	SourceRevision string            `json:"source_revision,omitempty"`
	Binaries       map[string]string `json:"binaries_sha256,omitempty"`
}
