package export

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"gonogo/runner/record"
)

// Cluster is what Kubernetes is told beside the job.
type Cluster struct {
	Image   string // holds the kit: bin/gonogo, bin/server-go, server-node and node
	Target  record.Target
	Memory  string // the server's limit, such as 512Mi
	Workers int    // generators, each on a node of its own
	StartAt time.Time
}

const (
	kubernetesServer = "gonogo-server" // Deployment and Service, and so the server's name
	kubernetesLoad   = "gonogo-load"
	kubernetesPort   = 8080
	kubernetesDir    = "/gonogo" // where the kit is in the image
)

var (
	kubernetesMemory = regexp.MustCompile(`^[1-9][0-9]*(Ki|Mi|Gi)$`)
	kubernetesImage  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
)

// Kubernetes writes the manifests of one run: a server, its service, and an Indexed Job
// of workers with one common start. YAML is written by hand, in the order in which
// people write it; a test in a module of its own decodes it strictly.
func Kubernetes(j Job, c Cluster) (*Text, error) {
	if err := j.kubernetes(c); err != nil {
		return nil, fmt.Errorf("export for kubernetes: %w", err)
	}
	lost := []string{
		"fresh server processes, shuffled blocks and the A/A twin: one run of one target; kubectl rollout restart deployment/" + kubernetesServer + " before each run, another target is another export",
		"the server's CPU time and memory: nobody reads them; its limits are below",
	}
	if j.Scenario.Kind == record.Memory {
		lost = append(lost, "idle and rest: this is the load alone")
	}
	s := &j.Scenario
	var b strings.Builder
	b.WriteString(j.heading("#", "Kubernetes", fmt.Sprintf("Target %s, %d workers, start %s.", c.Target.Name, c.Workers, c.start()), lost))
	fmt.Fprintf(&b, `#
# The workers must be up, on %d nodes of their own, before the start less the warm-up of %v;
# the clocks of the nodes must agree to 1 %% of the window or 10 ms.
#   kubectl apply -f FILE
#   kubectl wait --for=condition=complete --timeout=1h job/%s
#   for k in $(seq 0 %d); do
#     kubectl logs -l app=%s,batch.kubernetes.io/job-completion-index=$k --tail=-1 | grep '^{' >worker-$k.json
#   done
#   gonogo load merge worker-*.json
#   kubectl delete -f FILE
# A worker that dies fails the job, and merge refuses what is not complete: the run is void.
`, c.Workers, s.Warmup, kubernetesLoad, c.Workers-1, kubernetesLoad)
	b.WriteString(c.server() + "---\n" + c.service() + "---\n" + j.workers(c))
	return &Text{b.String(), lost}, nil
}

func (j *Job) kubernetes(c Cluster) error {
	if err := j.check(); err != nil {
		return err
	}
	s := &j.Scenario
	switch {
	case len(s.Requests) > 1:
		return fmt.Errorf("scenario %s mixes %d requests, which is not written for this engine", s.Name, len(s.Requests))
	case c.Workers < 1 || s.Connections%c.Workers != 0:
		return fmt.Errorf("%d connections cannot be shared evenly by %d workers", s.Connections, c.Workers)
	case c.StartAt.IsZero():
		return fmt.Errorf("no start for the workers to have in common")
	case !kubernetesImage.MatchString(c.Image):
		return fmt.Errorf("image %q is no name of an image", c.Image)
	case !kubernetesMemory.MatchString(c.Memory):
		return fmt.Errorf("memory %q is no limit such as 512Mi", c.Memory)
	}
	return nil
}

func (c *Cluster) start() string { return c.StartAt.UTC().Format(time.RFC3339) }

// apart keeps a pod off nodes where one with such a label runs.
func apart(names ...string) string {
	text := "      affinity:\n        podAntiAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n"
	for _, name := range names {
		text += "          - topologyKey: kubernetes.io/hostname\n            labelSelector:\n              matchLabels:\n                app: " + name + "\n"
	}
	return text
}

// resources are limits and requests alike: only so does the static CPU manager give a
// pod CPUs of its own.
func resources(cpus int, memory string) string {
	return fmt.Sprintf("        resources:\n          limits: {cpu: \"%d\", memory: %s}\n          requests: {cpu: \"%d\", memory: %s}\n", cpus, memory, cpus, memory)
}

// server has a probe for its start and none after it: nothing may touch a server while
// it is measured.
func (c *Cluster) server() string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  replicas: 1
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app: %[1]s
  template:
    metadata:
      labels:
        app: %[1]s
    spec:
      automountServiceAccountToken: false
`, kubernetesServer)
	b.WriteString(apart(kubernetesLoad))
	fmt.Fprintf(&b, "      containers:\n      - name: server\n        image: %s\n        workingDir: %s\n        command:\n", quoted(c.Image), kubernetesDir)
	for _, a := range c.Target.Argv {
		fmt.Fprintf(&b, "        - %s\n", argument(a))
	}
	b.WriteString("        env:\n")
	for _, e := range append([]string{"HOST=0.0.0.0", fmt.Sprintf("PORT=%d", kubernetesPort)}, c.Target.Env...) {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&b, "        - name: %s\n          value: %s\n", quoted(name), argument(value))
	}
	fmt.Fprintf(&b, "        ports:\n        - containerPort: %d\n        startupProbe:\n          httpGet:\n            path: /healthz\n            port: %d\n          periodSeconds: 1\n          failureThreshold: 60\n", kubernetesPort, kubernetesPort)
	b.WriteString(resources(max(c.Target.Workers, 1), c.Memory))
	return b.String()
}

func (c *Cluster) service() string {
	return fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: %[1]s
spec:
  selector:
    app: %[1]s
  ports:
  - port: %[2]d
    targetPort: %[2]d
`, kubernetesServer, kubernetesPort)
}

// workers fail as a whole: backoffLimit 0 starts no worker anew, for it would come late.
func (j *Job) workers(c Cluster) string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: batch/v1
kind: Job
metadata:
  name: %[1]s
spec:
  completionMode: Indexed
  completions: %[2]d
  parallelism: %[2]d
  backoffLimit: 0
  template:
    metadata:
      labels:
        app: %[1]s
    spec:
      automountServiceAccountToken: false
      restartPolicy: Never
`, kubernetesLoad, c.Workers)
	b.WriteString(apart(kubernetesLoad, kubernetesServer))
	fmt.Fprintf(&b, "      containers:\n      - name: worker\n        image: %s\n        workingDir: %s\n        command:\n        - bin/gonogo\n        args:\n", quoted(c.Image), kubernetesDir)
	for _, a := range j.workerArgs(c) {
		fmt.Fprintf(&b, "        - %s\n", a)
	}
	b.WriteString(resources(1, "1Gi"))
	return b.String()
}

// workerArgs are those of gonogo load, as YAML. Connections are each worker's own
// share, while the rate is that of all together: worker k sends every request i with i
// mod n = k.
func (j *Job) workerArgs(c Cluster) (list []string) {
	s, r := &j.Scenario, j.Scenario.Requests[0]
	add := func(a ...string) {
		for _, text := range a {
			list = append(list, argument(text))
		}
	}
	add("load", "run", "--json", "--worker")
	list = append(list, quoted(fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", c.Workers))) // set by the Job controller
	add("--start-at", c.start(), "--connections", fmt.Sprint(s.Connections/c.Workers), "--warmup", s.Warmup.String(), "--duration", s.Window.String(),
		"--timeout", j.Timeout.String(), "--seed", fmt.Sprint(j.Seed), "--ids", fmt.Sprint(j.IDs), "--method", r.Method)
	if j.open() {
		add("--rate", number(s.RatePerSec))
		if arrivals(s) == "poisson" {
			add("--poisson")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		add("--header", name+"="+r.Header[name])
	}
	if r.Body != "" {
		add("--body", r.Body)
	}
	if r.WantStatus != 0 {
		add("--want-status", fmt.Sprint(r.WantStatus))
	}
	if r.WantBody != "" {
		add("--want-body", r.WantBody)
	}
	add(fmt.Sprintf("http://%s:%d%s", kubernetesServer, kubernetesPort, r.Path))
	return list
}

// argument is a string in which Kubernetes sees no variable of its own.
func argument(s string) string { return quoted(strings.ReplaceAll(s, "$(", "$$(")) }
