// Command server-go is the Go half of the comparison: a small JSON API over
// users in memory, with net/http and httprouter. server-node is the same API,
// equal to the byte; read api.go beside api.mjs and store.go beside store.mjs.
//
// Settings come from the environment: HOST, PORT (0 is any free port),
// GONOGO_TOKEN, and those of the Go runtime, GOMAXPROCS, GOGC and GOMEMLIMIT.
// DELAY_MS makes requests wait: see delay.go. VARIANT puts another API in place of
// this one: see variants.go.
package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "server-go:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	api, err := delayed(handler(os.Getenv("VARIANT")), os.Getenv("DELAY_MS"))
	if err != nil {
		return err
	}

	var config net.ListenConfig
	config.SetMultipathTCP(false) // on by default in Go, unknown to Node
	address := net.JoinHostPort(cmp.Or(os.Getenv("HOST"), "127.0.0.1"), cmp.Or(os.Getenv("PORT"), "0"))
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}

	if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		fmt.Fprintf(os.Stderr, "server-go: warning: listening on %v: whoever reaches this machine reaches this server, which has no protection\n", listener.Addr())
	}

	// The limits of time are the same numbers as in server-node/listen.mjs.
	server := &http.Server{
		Handler:           api,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       10 * time.Second,
		IdleTimeout:       65 * time.Second,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	port := listener.Addr().(*net.TCPAddr).Port
	fmt.Printf("{\"ready\":true,\"port\":%d,\"pids\":[%d]}\n", port, os.Getpid())

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Shutdown drops idle connections and waits for what is in flight. It also
	// waits for connections that never sent a byte: those are cut after a second.
	last, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if server.Shutdown(last) != nil {
		server.Close()
	}
	return nil
}
