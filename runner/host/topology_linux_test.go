package host

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// wired makes a machine out of its cores: cores[i] lists the threads of core i,
// nodes[i] (if any) its NUMA node.
func wired(cores []string, nodes ...int) map[string]string {
	files := map[string]string{}
	for i, threads := range cores {
		list, _ := parseList(threads)
		for _, cpu := range list {
			files[cpuFile(cpu, "topology/thread_siblings_list")] = threads + "\n"
			if len(nodes) > 0 {
				files[cpuFile(cpu, fmt.Sprintf("node%d/cpulist", nodes[i]))] = "\n"
			}
		}
	}
	return files
}

func TestSplit(t *testing.T) {
	tests := []struct {
		name  string
		cpus  string
		files map[string]string
		want  string // one, its generator, many, its generator, k
	}{
		{"not pinned", "", nil, "[] [] [] [] 2"},
		{"1 core", "0", wired([]string{"0"}), "[0] [0] [0] [0] 2"},
		{"2 cores", "0-1", wired([]string{"0", "1"}), "[0] [1] [0 1] [0 1] 2"},
		{"2 cores, topology unknown", "0-1", nil, "[0] [1] [0 1] [0 1] 2"},
		{"2 threads of 1 core", "0-1", wired([]string{"0-1", "0-1"}), "[0] [1] [0 1] [0 1] 2"},
		{"2 cores of 2 threads", "0-3", wired([]string{"0,2", "1,3"}), "[0] [1 3] [0 1] [0 1] 2"},
		{"2 of many CPUs allowed", "5,9", wired([]string{"5,13", "9,17"}), "[5] [9] [5 9] [5 9] 2"},
		{"3 cores", "0-2", wired([]string{"0", "1", "2"}), "[0] [2] [0 1] [2] 2"},
		{"4 cores", "0-3", wired([]string{"0", "1", "2", "3"}), "[0] [2 3] [0 1] [2 3] 2"},
		{"5 cores, the first is left", "0-4", wired([]string{"0", "1", "2", "3", "4"}), "[1] [3 4] [1 2] [3 4] 2"},
		{"4 cores of 2 threads", "0-7", wired([]string{"0,4", "1,5", "2,6", "3,7"}), "[0] [2 3 6 7] [0 1] [2 3 6 7] 2"},
		{"neighbours are threads", "0-7", wired([]string{"0-1", "2-3", "4-5", "6-7"}), "[0] [4 5 6 7] [0 2] [4 5 6 7] 2"},
		{"2 nodes of 4 cores", "0-7", wired([]string{"0", "1", "2", "3", "4", "5", "6", "7"}, 0, 1, 0, 1, 0, 1, 0, 1), "[0] [4 6] [0 2] [4 6] 2"},
		{"the larger node", "1-7", wired([]string{"1", "2", "3", "4", "5", "6", "7"}, 0, 0, 1, 1, 1, 1, 1), "[4] [6 7] [4 5] [6 7] 2"},
		{"2 nodes of 2 cores: too small to part", "0-3", wired([]string{"0", "1", "2", "3"}, 0, 0, 1, 1), "[0] [2 3] [0 1] [2 3] 2"},
		{"24 cores: k is 8", "0-23", nil, "[1] [9 10 11 12 13 14 15 16 17 18 19 20 21 22 23] [1 2 3 4 5 6 7 8] [9 10 11 12 13 14 15 16 17 18 19 20 21 22 23] 8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := fixture(t, 0, tt.files)
			var err error
			if m.cpus, err = parseList(tt.cpus); err != nil {
				t.Fatal(err)
			}
			s := m.split()
			if got := fmt.Sprint(s.One, s.OneGenerator, s.Many, s.ManyGenerator, s.K); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSpare(t *testing.T) {
	m := fixture(t, 8, wired([]string{"0,4", "1,5", "2,6", "3,7"}))
	for _, tt := range []struct{ used, want string }{{"0,2", "1,3,5,7"}, {"4-6", "3,7"}, {"", "0-7"}, {"0-3", ""}} {
		used, _ := parseList(tt.used)
		want, _ := parseList(tt.want)
		if got := m.spare(used); !slices.Equal(got, want) {
			t.Errorf("used %s: %v, want %v", tt.used, got, want)
		}
	}
}

func TestQuietHere(t *testing.T) {
	e, checks := Quiet(t.Context(), here().cpus, 30*time.Millisecond, methodRules)
	if e.Took < 30*time.Millisecond || e.Busy == nil {
		t.Errorf("%+v", e)
	}
	if got := word(checks[len(checks)-1]); checks[len(checks)-1].Name != nameHiccup || got == "unknown" {
		t.Errorf("the meter says %v", checks[len(checks)-1])
	}
}
