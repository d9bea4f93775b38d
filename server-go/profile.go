//go:build profile

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"time"
)

// A build with the tag profile can be profiled: only that links pprof, for a program that
// can be asked for a heap profile is larger and samples its allocations from the start on.
//
// PROFILE_ADDR=127.0.0.1:0 opens a listener of its own for profiles, under the paths
// that `go tool pprof` knows. PROFILE says what is to be recorded: memory has
// allocations sampled, waits has locks and channels watched; cpu and trace cost nothing
// until they are asked for.
func init() {
	runtime.MemProfileRate = 0
	if os.Getenv("PROFILE") == "memory" {
		runtime.MemProfileRate = memoryRate
	}
	address := os.Getenv("PROFILE_ADDR")
	if address == "" {
		return
	}
	if err := serveProfiles(address, os.Getenv("PROFILE")); err != nil {
		fmt.Fprintln(os.Stderr, "server-go: serve profiles:", err)
		os.Exit(1)
	}
}

// memoryRate samples an allocation each 64 KiB, an eighth of the default: what grows in
// a window of seconds is to be seen.
const memoryRate = 64 << 10

// blockRate has a wait of so many ns or more counted for certain, and of a shorter one
// its share.
const blockRate = 1000

func serveProfiles(address, of string) error {
	switch of {
	case "", "cpu", "memory", "trace":
	case "waits":
		runtime.SetBlockProfileRate(blockRate)
		runtime.SetMutexProfileFraction(1)
	default:
		return fmt.Errorf("PROFILE is %q, want cpu, memory, waits or trace", of)
	}
	listener, err := listenPrivately(address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux() // the default one is anybody's to add to
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	fmt.Printf("{\"profile\":%q,\"pid\":%d}\n", listener.Addr(), os.Getpid())
	return nil
}

// listenPrivately refuses an address that others than this machine could reach: a
// profile tells what a program does and holds.
func listenPrivately(address string) (net.Listener, error) {
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !tcp.IP.IsLoopback() {
		return nil, errors.New("PROFILE_ADDR " + address + " is not of this machine alone: give 127.0.0.1:0")
	}
	return net.ListenTCP("tcp", tcp)
}
