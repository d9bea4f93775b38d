package host

import (
	"fmt"
	"testing"
)

func TestCores(t *testing.T) {
	for _, tt := range []struct {
		name, cpus string
		files      map[string]string
		ks         []int
		want       string // by k: server, generator
	}{
		{"2 cores: both are shared", "0-1", wired([]string{"0", "1"}), []int{1, 2}, "1 [0] [1]; 2 [0 1] [0 1]; "},
		{"2 threads of 1 core", "0-1", wired([]string{"0-1", "0-1"}), []int{1, 2}, "1 [0] [1]; 2 [0 1] [0 1]; "},
		{"1 core", "3", nil, []int{1}, "1 [3] [3]; "},
		{"4 cores of 2 threads", "0-7", wired([]string{"0,4", "1,5", "2,6", "3,7"}), []int{1, 2, 3}, "1 [0] [3 7]; 2 [0 1] [3 7]; 3 [0 1 2] [3 7]; "},
		{"4 of 4: the others keep the last", "0-3", nil, []int{1, 3, 4}, "1 [0] [3]; 3 [0 1 2] [3]; 4 [0 1 2 3] [0 1 2 3]; "},
		{"8 cores, the first is left", "0-7", nil, []int{1, 4}, "1 [1] [5 6 7]; 4 [1 2 3 4] [5 6 7]; "},
		{"5 cores: none can be left", "0-4", nil, []int{4}, "4 [0 1 2 3] [4]; "},
		{"2 nodes of 4 cores: one is enough", "0-7", wired([]string{"0", "1", "2", "3", "4", "5", "6", "7"}, 0, 1, 0, 1, 0, 1, 0, 1), []int{2}, "2 [0 2] [4 6]; "},
		{"2 nodes of 4 cores: one is too few", "0-7", wired([]string{"0", "1", "2", "3", "4", "5", "6", "7"}, 0, 1, 0, 1, 0, 1, 0, 1), []int{4}, "4 [1 2 3 4] [5 6 7]; "},
	} {
		m := fixture(t, 0, tt.files)
		var err error
		if m.cpus, err = parseList(tt.cpus); err != nil {
			t.Fatal(err)
		}
		sets, err := m.coreSets(tt.ks)
		got := ""
		for _, k := range tt.ks {
			got += fmt.Sprintf("%d %v %v; ", k, sets[k].Server, sets[k].Generator)
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: %s (%v)\nwant %s", tt.name, got, err, tt.want)
		}
	}
	m := fixture(t, 0, nil)
	m.cpus = []int{0, 1}
	for _, ks := range [][]int{{0, 1}, {3}} {
		if _, err := m.coreSets(ks); err == nil {
			t.Errorf("%v of two cores: no error", ks)
		}
	}
}
