package export

import (
	"strings"
	"testing"
	"time"

	"gonogo/runner/record"
)

var cluster = Cluster{Image: "registry.example/gonogo:0.1.0", Target: record.Target{Name: "go-2", Argv: []string{"bin/server-go"}, Env: []string{"GOMAXPROCS=2"}, Workers: 2},
	Memory: "512Mi", Workers: 5, StartAt: time.Date(2026, 12, 1, 12, 0, 0, 0, time.FixedZone("", 3600))}

// TestKubernetesGolden: what these files mean to Kubernetes is tested in the module
// ./kubernetes, against the types of k8s.io/api.
func TestKubernetesGolden(t *testing.T) {
	for name, j := range map[string]Job{"closed": closed, "open": open} {
		text, err := Kubernetes(j, cluster)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "kubernetes-"+name+".yaml", text.Text)
		for _, lost := range text.Lost {
			if !strings.Contains(text.Text, lost) {
				t.Errorf("%s: %q is told to the caller and not in the text", name, lost)
			}
		}
	}
}

func TestKubernetesRefuses(t *testing.T) {
	mix := closed
	mix.Scenario.Requests = []record.Request{get, add}
	for _, c := range []struct {
		j    Job
		with func(*Cluster)
		says string
	}{
		{closed, func(c *Cluster) { c.Workers = 3 }, "50 connections cannot be shared evenly by 3 workers"},
		{closed, func(c *Cluster) { c.Workers = 0 }, "by 0 workers"},
		{closed, func(c *Cluster) { c.StartAt = time.Time{} }, "no start"},
		{closed, func(c *Cluster) { c.Image = "" }, "no name of an image"},
		{closed, func(c *Cluster) { c.Image = "a\nb" }, "no name of an image"},
		{closed, func(c *Cluster) { c.Memory = "512M}" }, "no limit such as 512Mi"},
		{mix, func(c *Cluster) {}, "mixes 2 requests"},
	} {
		with := cluster
		c.with(&with)
		if _, err := Kubernetes(c.j, with); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}
