package contract

import (
	"reflect"
	"testing"
)

func TestFuzzFindsNoDifference(t *testing.T) {
	servers := []Server{startGo(t).Server, startNode(t).Server, startCluster(t).Server}
	n := uint64(3000)
	if testing.Short() {
		n = 1000
	}
	result, err := Fuzz(t.Context(), servers, FuzzOptions{Seed: 1, N: n})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		t.Error(result)
	}
	if result.Cases != n {
		t.Errorf("%d cases, want %d", result.Cases, n)
	}
	t.Logf("%d cases in %v, demanded %v", result.Cases, result.Elapsed, result.Demanded)
}

func TestSampleDependsOnSeedAndNumberAlone(t *testing.T) {
	for i := range uint64(200) {
		if !reflect.DeepEqual(sampleAt(7, i), sampleAt(7, i)) {
			t.Fatalf("sample %d is not the same twice", i)
		}
	}
	if reflect.DeepEqual(sampleAt(7, 1), sampleAt(8, 1)) || reflect.DeepEqual(sampleAt(7, 1), sampleAt(7, 2)) {
		t.Error("seed or number make no difference")
	}
}

// TestSamplesReachEveryAnswer sees to it that the fuzzer is not busy with one
// kind of answer only.
func TestSamplesReachEveryAnswer(t *testing.T) {
	const n = 5000
	seen := map[string]int{}
	for i := range uint64(n) {
		s := sampleAt(1, i)
		w := s.want
		if w.status == 200 || w.status == 201 {
			w.body = ""
		}
		seen[w.String()]++
		if s.allow == separators {
			seen["separators"]++
		}
	}
	for _, w := range []want{{status: 200}, {status: 201}, notFound, badRequest, invalidJSON, noName, badEmail, tooLarge, refused, wrongMethod("POST"), wrongMethod("GET, HEAD")} {
		if seen[w.String()] < n/500 {
			t.Errorf("%v is demanded by %d of %d samples", w, seen[w.String()], n)
		}
	}
	if seen["separators"] < n/500 {
		t.Errorf("%d of %d samples hold U+2028 or U+2029", seen["separators"], n)
	}
	t.Log(seen)
}

// TestFuzzCatchesMutants lets the fuzzer loose on one server alone: what is wrong
// shows against the model, without another server that is right.
func TestFuzzCatchesMutants(t *testing.T) {
	o := FuzzOptions{Seed: 1, N: 3000}
	if r, err := Fuzz(t.Context(), []Server{startReference(t, mutant{})}, o); err != nil || len(r.Differences) > 0 {
		t.Fatalf("%v\n%v", err, r)
	}
	for name, m := range map[string]mutant{
		"struct decoding": {parse: decodedWhole}, "case": pathMutants["case does not matter"], "number": pathMutants["id is a number"],
		"twice": pathMutants["decoded twice"], "escapes": pathMutants["escapes stay"], "invalid UTF-8": parseMutants["invalid UTF-8 replaced"],
		"markup": answerMutants["markup escaped"], "surrogate": answerMutants["lone surrogate"], "Allow": answerMutants["Allow names OPTIONS"],
		"store": answerMutants["nothing is stored"], "length": answerMutants["newline at the end"], "cap": bodyMutants["cap one too low"],
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Fuzz(t.Context(), []Server{startReference(t, m)}, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Differences) == 0 {
				t.Error("it found nothing")
			}
		})
	}
}
