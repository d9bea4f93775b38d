package load

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gonogo/runner/internal/null"
	"gonogo/runner/internal/stub"
	"gonogo/runner/record"
)

// TestMain lets the test binary be the null server too, as a process of its own.
func TestMain(m *testing.M) {
	stub.Hook()
	if address := os.Getenv("GONOGO_TEST_FEW_FILES"); address != "" {
		fewFiles(address)
	}
	if os.Getenv("GONOGO_TEST_NULL") != "" {
		serveNull()
	}
	os.Exit(m.Run())
}

func serveNull() {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	go null.Serve(l, null.Stall{})
	bufio.NewReader(os.Stdin).ReadByte() // ends with the test
	os.Exit(0)
}

func startNull(tb testing.TB) (address string) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GONOGO_TEST_NULL=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(line)
}

var getNull = record.Request{Method: "GET", Path: "/users/500", WantStatus: 200, WantBody: null.Body}

// BenchmarkRequest is what a request costs against the null server, in elapsed
// time and in processor time of this process.
func BenchmarkRequest(b *testing.B) {
	address := startNull(b)
	for _, engine := range Engines() {
		for _, connections := range []int{50, 300, 1000} {
			b.Run(fmt.Sprintf("%s/c%d", engine, connections), func(b *testing.B) {
				res, err := Run(b.Context(), record.LoadSpec{
					Address: address, Host: "127.0.0.1", Requests: []record.Request{getNull}, Kind: record.Closed,
					Connections: connections, Count: uint64(b.N), Timeout: 5 * time.Second, Engine: engine,
				}, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(res.CPU.Total())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
