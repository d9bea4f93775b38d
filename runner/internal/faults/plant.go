package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"

	"gonogo/runner/memory"
	"gonogo/runner/record"
)

// victims are the processes of a target under load, the primary first.
type victims []int

// underLoad waits until the target whose log that is answers requests. The spot check
// is five of them.
func underLoad(ctx context.Context, log string) (victims, bool) {
	deadline := time.Now().Add(10 * time.Second)
	for ; ctx.Err() == nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		var ready struct {
			Port int
			PIDs []int
		}
		line, err := os.ReadFile(log)
		if err != nil || json.Unmarshal(line, &ready) != nil || ready.Port == 0 || len(ready.PIDs) == 0 {
			continue
		}
		var health struct{ Requests []uint64 }
		reply, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", ready.Port))
		if err != nil {
			continue
		}
		err = json.NewDecoder(reply.Body).Decode(&health)
		reply.Body.Close()
		var n uint64
		for _, r := range health.Requests {
			n += r
		}
		if err == nil && n > 40 {
			return ready.PIDs, true
		}
	}
	return nil, false
}

// signal sends to the k-th of the processes that the target itself named.
func (v victims) signal(k int, s syscall.Signal) {
	if k < len(v) && v[k] > 1 {
		syscall.Kill(v[k], s)
	}
}

// forgottenSampler reads the memory of a target under load, and puts what it read into
// the record, as a session would that left its sampler on.
type forgottenSampler struct {
	stop   context.CancelFunc
	series *memory.Series
}

func (f *forgottenSampler) start(ctx context.Context, v victims) {
	ctx, f.stop = context.WithCancel(ctx)
	f.series = memory.Watch(ctx, v, 20*time.Millisecond)
}

func (f *forgottenSampler) into(r *record.Run) {
	if f.series == nil {
		return
	}
	f.stop()
	read, _ := f.series.Wait() // the target has ended: the last reading may have failed
	r.SampledReads = len(read)
	r.Memory = &record.MemoryWatch{Method: memory.Method, Load: read}
}
