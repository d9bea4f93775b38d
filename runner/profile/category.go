package profile

import (
	"slices"
	"strings"

	"gonogo/runner/record"
)

// The categories that a sample of CPU time or of allocation falls into, the same for
// both runtimes so that they can be laid side by side.
const (
	catHTTP       = "http"       // net/http and its router; node:_http_*, node:net, streams
	catJSON       = "json"       //
	catMap        = "map"        //
	catSyscall    = "syscall"    //
	catScheduling = "scheduling" // Go's scheduler; Node's event loop, timers, and all native code without a function of JavaScript
	catOwn        = "own"        // the program's own functions
	catRuntime    = "runtime"    // of the runtime, and of none of these
	catOther      = "other"      // other packages
	catProfiler   = "profiler"   // what it takes to profile
)

// goCategory looks for what the work was for: collection, scheduling and profiling are
// so whatever lies inside them; else the innermost function with a category tells.
func goCategory(frames []frame) string {
	for _, f := range frames {
		switch {
		case f.at == "runtime/pprof" || f.at == "net/http/pprof" || f.at == "runtime/trace":
			return catProfiler
		case f.at == "runtime" && slices.Contains(collects, f.name):
			return record.GCCategory
		case f.at == "runtime" && slices.Contains(schedules, f.name):
			return catScheduling
		}
	}
	for _, f := range frames {
		if c := goFunction(f); c != "" {
			return c
		}
	}
	return catRuntime
}

var (
	collects = []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.gcAssistAlloc1", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart", "runtime.gcMarkDone",
		"runtime.gcMarkTermination", "runtime.gcDrain", "runtime.sweepone", "runtime.GC", "runtime.wbBufFlush", "runtime.deductSweepCredit", "runtime.(*mspan).sweep"}
	schedules = []string{"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.park_m", "runtime.goschedImpl", "runtime.mstart", "runtime.mstart1", "runtime.sysmon",
		"runtime.netpoll", "runtime.ready", "runtime.goready", "runtime.wakep", "runtime.gopark", "runtime.newproc", "runtime.goexit0", "runtime.mPark", "runtime.startm"}
)

// goFunction is the category of a function, or "" of one that serves many.
func goFunction(f frame) string {
	switch {
	case f.at == "syscall" || strings.HasSuffix(f.at, "runtime/syscall") || strings.HasPrefix(f.at, "internal/runtime/syscall"):
		return catSyscall
	case strings.HasPrefix(f.at, "internal/runtime/maps") || strings.HasPrefix(f.name, "runtime.map"):
		return catMap
	case strings.HasPrefix(f.name, "runtime.mallocgc") || f.name == "runtime.newobject" || f.name == "runtime.growslice" || f.name == "runtime.makeslice":
		return record.AllocCost
	case strings.HasPrefix(f.at, "encoding/json"):
		return catJSON
	case f.at == "net" || f.at == "net/http" || strings.HasPrefix(f.at, "net/http/") || f.at == "net/textproto" || f.at == "bufio" || f.at == "internal/poll" || f.at == "mime" ||
		strings.HasSuffix(f.at, "/httprouter") || f.at == "net/url":
		return catHTTP
	case f.at == "sync" || f.at == "internal/sync":
		return record.LockCategory
	case f.at == "main" || strings.HasPrefix(f.at, "gonogo/"):
		return catOwn
	case f.at == "runtime" || strings.HasPrefix(f.at, "internal/") || serves[f.at]:
		return ""
	}
	return catOther
}

// serves are packages that work for whoever calls them.
var serves = map[string]bool{"": true, "strings": true, "bytes": true, "strconv": true, "unicode/utf8": true, "reflect": true, "sort": true, "slices": true, "io": true, "time": true,
	"context": true, "sync/atomic": true, "fmt": true, "errors": true, "math/bits": true, "unsafe": true, "maps": true}

// waitedFor is what a stack of a block or mutex profile waits for.
func waitedFor(frames []frame) string {
	for _, f := range frames {
		switch {
		case strings.HasPrefix(f.name, "sync.(*Mutex)") || strings.HasPrefix(f.name, "sync.(*RWMutex)") || strings.HasPrefix(f.name, "internal/sync.(*Mutex)") ||
			f.name == "runtime.unlock" || f.name == "runtime._LostContendedRuntimeLock":
			return record.LockCategory
		case strings.HasPrefix(f.name, "sync.(*Cond)"):
			return "condition"
		case strings.HasPrefix(f.name, "sync.(*WaitGroup)"):
			return "group"
		case strings.HasPrefix(f.name, "runtime.chan"):
			return "channel"
		case strings.HasPrefix(f.name, "runtime.selectgo") || strings.HasPrefix(f.name, "runtime.block"):
			return "select"
		}
	}
	return catOther
}

// nodeCategory takes the innermost function with a category.
func nodeCategory(frames []frame) string {
	for _, f := range frames {
		if c := nodeFunction(f); c != "" {
			return c
		}
	}
	return catRuntime
}

// nodeFunction is the category of a function, or "" of a builtin, which works for
// whoever calls it.
func nodeFunction(f frame) string {
	switch f.name {
	case "(garbage collector)":
		return record.GCCategory
	case "(program)", "(root)":
		return catScheduling
	case "(idle)":
		return record.CategoryIdle
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(f.at, "node:"+p) })
	}
	switch {
	case f.at == "":
		return builtin(f.name)
	case strings.HasSuffix(f.at, "/"+preloadFile) || f.at == "node:inspector" || has("internal/perf"):
		return catProfiler
	case has("_http", "http", "internal/http", "net", "internal/net", "stream", "_stream", "internal/stream", "internal/streams", "url", "internal/url", "querystring"):
		return catHTTP
	case has("events", "timers", "internal/timers", "internal/process", "internal/async_hooks", "async_hooks", "domain", "internal/util/debuglog"):
		return catScheduling
	case has("buffer", "internal/buffer", "internal/util", "internal/validators", "internal/encoding", "string_decoder"):
		return ""
	case strings.HasPrefix(f.at, "node:"):
		return catOther
	case strings.Contains(f.at, "/node_modules/"):
		return catOther
	}
	return catOwn
}

// builtin is what functions without a file do: V8's own, and the C++ of Node.
func builtin(name string) string {
	switch name {
	case "stringify", "parse", "JSON.stringify", "JSON.parse":
		return catJSON
	case "get", "set", "has", "Map.get", "Map.set":
		return catMap
	case "writev", "writeBuffer", "writeUtf8String", "writeLatin1String", "writeAsciiString", "writeUcs2String", "shutdown", "readStart", "readStop", "close", "fsync", "writeString":
		return catSyscall
	}
	return ""
}
