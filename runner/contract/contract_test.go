package contract

import "testing"

func TestServersKeepTheContract(t *testing.T) {
	servers := []Server{startGo(t).Server, startNode(t).Server, startCluster(t).Server}
	result, err := Check(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		t.Error(result)
	}
	for _, p := range result.Parity {
		t.Logf("%s: %d cases, %d bytes a GET reply", p.Target, p.Cases, p.ReplyBytesGET)
	}
	for _, s := range servers {
		if _, err := Spot(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
}

func TestRowsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range table() {
		if seen[r.name] {
			t.Errorf("two rows are called %q", r.name)
		}
		seen[r.name] = true
	}
}
