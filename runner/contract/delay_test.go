package contract

import (
	"context"
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// A wait changes when an answer comes, and nothing of the answer.
func TestServersThatWaitKeepTheContract(t *testing.T) {
	needNode(t)
	startGo(t) // builds
	const wait = "DELAY_MS=1+1"
	servers := []*process{
		start(t, "go", []string{wait}, built.folder+"/server-go"),
		start(t, "node", []string{wait}, "node", "server-node/server.mjs"),
		start(t, "cluster", []string{wait, "WORKERS=2"}, "node", "server-node/cluster.mjs"),
	}
	var all []Server
	for _, p := range servers {
		all = append(all, p.Server)
		if got := p.health(t).Delay; got != "1+1" {
			t.Errorf("%s says that it waits %q", p.Name, got)
		}
	}
	result, err := Check(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		t.Error(result)
	}
}

func TestServersThatDoNotWaitSayNothingOfIt(t *testing.T) {
	for _, p := range []*process{startGo(t), startNode(t)} {
		if got := p.health(t).Delay; got != "" {
			t.Errorf("%s says that it waits %q", p.Name, got)
		}
	}
}

// script asks server-node/delay.mjs in the words of server-go/delay_test.go. How many
// timers run while a request waits tells a series from what runs at once, without a
// clock.
const script = `
import { delayed } from './server-node/delay.mjs';
const timers = (setting) => {
  delayed({ handle() {} }, setting).handle({ url: '/users/1' }, {});
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
};
const plain = { handle() {} };
const takes = (setting) => { try { return Boolean(delayed({}, setting)); } catch (err) { return !(err instanceof RangeError); } };
const good = ['1', '900', '900/900', '450+450', '1+'.repeat(15) + '1'];
const bad = ['x', '-1', '+1', '1.5', '05', ' 5', '5 ', '5ms', '1e2', '901', '450+451', '901/1', '0+5', '5+0', '0/0', '5+', '/5', '5++5', '5/5+5', '99999999999999999999', '1/'.repeat(16) + '1'];
// The waits of a process that never rests, begun at any part of a millisecond.
let early = 0;
const waits = [];
const work = async (left) => {
  for (; left > 0; left--) {
    const begun = performance.now();
    waits.push(new Promise((done) => {
      delayed({ handle() { early += performance.now() - begun < 2; done(); } }, '2').handle({ url: '/users/1' }, {});
    }));
    for (const turns = left % 7; performance.now() < begun + 0.01 * turns;) await new Promise(setImmediate);
  }
  let all = false;
  Promise.all(waits).then(() => { all = true; });
  while (!all) await new Promise(setImmediate);
};
const health = { url: '/healthz' };
const asked = [];
delayed({ handle: (req) => asked.push(req) }, '900').handle(health);
const series = timers('300+300+300'), parallel = timers('300/300/300');
await work(500);
console.log(JSON.stringify({
  plain: [delayed(plain, '') === plain, delayed(plain, '0') === plain, 'delay' in plain],
  asked: asked.length,
  series, parallel, early,
  refused: good.filter((s) => !takes(s)), taken: bad.filter(takes),
}));
process.exit();
`

func TestNodeWaitsAsGoDoes(t *testing.T) {
	needNode(t)
	node := exec.Command("node", "--input-type=module", "-e", script)
	node.Dir = "../.."
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	type said struct {
		Plain            []bool
		Asked            int
		Series, Parallel int
		Early            int
		Refused, Taken   []string
	}
	var got said
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	// The three at once begin while the one of the series still runs.
	want := said{Plain: []bool{true, true, false}, Asked: 1, Series: 1, Parallel: 1 + 3, Refused: []string{}, Taken: []string{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSettingsOfADelayAreChecked(t *testing.T) {
	needNode(t)
	startGo(t)
	for _, argv := range [][]string{{built.folder + "/server-go"}, {"node", "server-node/server.mjs"}, {"node", "server-node/cluster.mjs"}} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = limit
		cmd.Dir = "../.."
		cmd.Env = append(cmd.Environ(), "DELAY_MS=5ms", "WORKERS=1", "PORT=0")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "DELAY_MS must be like 5, 5+5+5 or 5/5/5") {
			t.Errorf("%v: %v\n%s", argv, err, out)
		}
	}
}
