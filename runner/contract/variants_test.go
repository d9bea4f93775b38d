package contract

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonogo/runner/plan"
)

// Each variant of server-node answers as the plain one does, but for the cases that it
// is known for, and answers each of those in its own way. A framework that is not
// there is not tested; make variant-servers brings it.
func TestNodeVariants(t *testing.T) {
	plainServer := startNode(t).Server
	for _, x := range plan.Targets(plan.CPUSets{}) {
		if x.Base != "node-1" || x.Argv[0] != "node" || x.Variant == "" {
			continue
		}
		t.Run(x.Variant, func(t *testing.T) {
			t.Parallel()
			if file, from := plan.Needs(x); file != "" {
				if _, err := os.Stat(filepath.Join("../..", file)); err != nil {
					t.Skipf("%s IS NOT THERE: %s; %s IS NOT TESTED", file, from, x.Name)
				}
			}
			variant := start(t, x.Name, x.Env, x.Argv...).Server
			variant.Chunked = x.Chunked
			result, err := Check(t.Context(), []Server{plainServer, variant})
			if err != nil {
				t.Fatal(err)
			}
			var differs []string
			for _, d := range result.Differences {
				differs = append(differs, d.Case)
				if !slices.Contains(x.Known, d.Case) {
					t.Error(d)
				}
			}
			for _, c := range x.Known {
				if !slices.Contains(differs, c) {
					t.Errorf("%q is answered as the contract has it", c)
				}
			}
			variant.Known = x.Known
			if _, err := Spot(t.Context(), variant); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of a server that is known to send users in chunks a length is wrong, and of all
// others chunks are.
func TestChunksCountWhereTheyAreKnown(t *testing.T) {
	plainServer, chunked := startNode(t).Server, start(t, "chunked", []string{"VARIANT=chunked"}, "node", "server-node/variants/chunked.mjs").Server
	lengthy, inChunks := plainServer, chunked
	lengthy.Chunked, inChunks.Chunked = true, true
	rows := paths()[:3]
	for _, c := range []struct {
		servers []Server
		want    int
	}{{[]Server{plainServer, inChunks}, 0}, {[]Server{chunked}, 3}, {[]Server{lengthy}, 3}} {
		result, err := check(t.Context(), c.servers, rows)
		if err != nil || len(result.Differences) != c.want {
			t.Errorf("%v: %d differences, want %d; %v", c.servers, len(result.Differences), c.want, err)
		}
	}
	// What is known is not held against a server, unless it gives no answer at all.
	chunked.Known = []string{rows[0].name, rows[1].name}
	if result, err := check(t.Context(), []Server{plainServer, chunked}, rows); err != nil || len(result.Differences) != 1 || result.Differences[0].Case != rows[2].name {
		t.Errorf("%v, %v", result, err)
	}
	several := []outcome{{wrong: errors.New("no more bytes in time")}, {wrong: errNoReply}, {reply: reply{status: 200}, wrong: errors.New("another body")}}
	known := Server{Name: "known", Known: []string{"x"}}
	if held, of := heldTo([]Server{known, known, known}, several, "x"); len(held) != 1 || of[0].wrong != several[0].wrong {
		t.Errorf("%d of a silent, an ending and an answering server are held to the case, want the silent one", len(held))
	}
}
