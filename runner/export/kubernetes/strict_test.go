// Package kubernetes decodes the exported texts by the types of k8s.io/api, strictly:
// a member that is misspelt or in the wrong place is an error.
package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

type manifests struct {
	server  appsv1.Deployment
	service corev1.Service
	job     batchv1.Job
}

func decode(text []byte) (*manifests, error) {
	m, seen := &manifests{}, []string{}
	into := map[string]any{"apps/v1 Deployment": &m.server, "v1 Service": &m.service, "batch/v1 Job": &m.job}
	for _, doc := range bytes.Split(text, []byte("---\n")) {
		var kind struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			return nil, err
		}
		name := kind.APIVersion + " " + kind.Kind
		if into[name] == nil || slices.Contains(seen, name) {
			return nil, fmt.Errorf("document %q is none of the three, or there twice", name)
		}
		seen = append(seen, name)
		if err := strictly(doc, into[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(seen) != 3 {
		return nil, fmt.Errorf("documents are %v, want 3", seen)
	}
	return m, nil
}

// strictly decodes as an API server does that validates fields. yaml.UnmarshalStrict
// alone would take a member whose capitals are wrong.
func strictly(doc []byte, to any) error {
	if err := yaml.UnmarshalStrict(doc, to); err != nil {
		return err
	}
	text, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(text, to)
	return errors.Join(append(unknown, err)...)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// keptApart are the apps whose nodes a pod is kept off.
func keptApart(t *testing.T, p corev1.PodSpec) (apps []string) {
	t.Helper()
	if p.Affinity == nil || p.Affinity.PodAntiAffinity == nil {
		t.Fatal("no anti-affinity")
	}
	for _, term := range p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if term.TopologyKey != corev1.LabelHostname || term.LabelSelector == nil {
			t.Errorf("kept apart by %q", term.TopologyKey)
		}
		apps = append(apps, term.LabelSelector.MatchLabels["app"])
	}
	slices.Sort(apps)
	return apps
}

func TestStrictly(t *testing.T) {
	for _, name := range []string{"kubernetes-closed.yaml", "kubernetes-open.yaml"} {
		m, err := decode(read(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		serverLabels := m.server.Spec.Template.Labels
		if !reflect.DeepEqual(m.server.Spec.Selector.MatchLabels, serverLabels) || !reflect.DeepEqual(m.service.Spec.Selector, serverLabels) {
			t.Errorf("%s: deployment %v and service %v select %v", name, m.server.Spec.Selector.MatchLabels, m.service.Spec.Selector, serverLabels)
		}
		server := m.server.Spec.Template.Spec.Containers[0]
		limits := server.Resources.Limits
		if *m.server.Spec.Replicas != 1 || limits.Cpu().MilliValue() != 2000 || limits.Memory().Value() != 512<<20 || !reflect.DeepEqual(limits, server.Resources.Requests) {
			t.Errorf("%s: %d servers, limits %v, requests %v", name, *m.server.Spec.Replicas, limits, server.Resources.Requests)
		}
		if server.LivenessProbe != nil || server.ReadinessProbe != nil || server.StartupProbe == nil || server.StartupProbe.HTTPGet.Port.IntValue() != 8080 {
			t.Errorf("%s: a probe touches the server while it is measured, or none tells when it is up", name)
		}
		if port := m.service.Spec.Ports[0]; port.Port != 8080 || port.TargetPort.IntVal != server.Ports[0].ContainerPort || !slices.Contains(server.Env, corev1.EnvVar{Name: "PORT", Value: "8080"}) ||
			!slices.Contains(server.Env, corev1.EnvVar{Name: "HOST", Value: "0.0.0.0"}) || !slices.Contains(server.Env, corev1.EnvVar{Name: "GOMAXPROCS", Value: "2"}) {
			t.Errorf("%s: service %v, server %v with %v", name, port, server.Ports, server.Env)
		}
		job, pod := m.job.Spec, m.job.Spec.Template
		if *job.CompletionMode != batchv1.IndexedCompletion || *job.Completions != 5 || *job.Parallelism != 5 || *job.BackoffLimit != 0 || pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s: job %+v", name, job)
		}
		if pod.Labels["app"] == serverLabels["app"] {
			t.Errorf("%s: the service sends load to the workers", name)
		}
		if got, want := keptApart(t, pod.Spec), []string{pod.Labels["app"], serverLabels["app"]}; !slices.Equal(got, want) {
			t.Errorf("%s: workers are kept apart from %v, want %v", name, got, want)
		}
		if got, want := keptApart(t, m.server.Spec.Template.Spec), []string{pod.Labels["app"]}; !slices.Equal(got, want) {
			t.Errorf("%s: the server is kept apart from %v, want %v", name, got, want)
		}
		args := strings.Join(pod.Spec.Containers[0].Args, " ")
		for _, want := range []string{"load run --json --worker $(JOB_COMPLETION_INDEX)/5 --start-at 2026-12-01T11:00:00Z --connections 10 ", " http://" + m.service.Name + ":8080/users"} {
			if !strings.Contains(args, want) {
				t.Errorf("%s: no %q in %s", name, want, args)
			}
		}
	}
}

// TestStrictIsStrict: a member that is not of Kubernetes is refused.
func TestStrictIsStrict(t *testing.T) {
	good := string(read(t, "kubernetes-closed.yaml"))
	for _, c := range [][2]string{{"completionMode:", "completionmode:"}, {"backoffLimit:", "backOffLimits:"}, {"  restartPolicy:", "  restart:"}, {"cpu: \"2\"", "cpu: \"two\""}, {"topologyKey:", "topology:"}, {"kind: Job", "kind: CronJob"}} {
		if !strings.Contains(good, c[0]) {
			t.Errorf("no %q to break", c[0])
		}
		if _, err := decode([]byte(strings.Replace(good, c[0], c[1], 1))); err == nil {
			t.Errorf("%q in place of %q was taken", c[1], c[0])
		}
	}
}

// TestHyperfoilIsYAML: anchors resolve, and both phases have the same requests.
func TestHyperfoilIsYAML(t *testing.T) {
	for name, how := range map[string]string{"hyperfoil-closed.hf.yaml": "always", "hyperfoil-open.hf.yaml": "constantRate"} {
		var b struct {
			Name       string                      `json:"name"`
			HTTP       map[string]any              `json:"http"`
			Ergonomics map[string]any              `json:"ergonomics"`
			Phases     []map[string]map[string]any `json:"phases"`
		}
		if err := yaml.UnmarshalStrict(read(t, name), &b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		warmup, _ := b.Phases[0]["warmup"][how].(map[string]any)
		window, _ := b.Phases[1]["window"][how].(map[string]any)
		if len(b.Phases) != 2 || warmup == nil || window == nil || !reflect.DeepEqual(warmup["scenario"], window["scenario"]) || window["startAfterStrict"] != "warmup" || window["duration"] != "1100ms" {
			t.Errorf("%s: phases %v", name, b.Phases)
		}
	}
}
