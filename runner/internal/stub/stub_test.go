package stub

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Hook()
	os.Exit(m.Run())
}

func listen(t *testing.T, b Behaviour) *Server {
	t.Helper()
	s, err := Listen(b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// exchange sends one request on a connection of its own and returns what came
// back until the server closed it.
func exchange(t *testing.T, s *Server, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, request)
	b, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return string(b)
}

const (
	get500  = "GET /users/500 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
	user500 = `{"id":"500","name":"User 500","email":"user500@example.com"}` // contract.md
)

func post(body string) string {
	return fmt.Sprintf("POST /users HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func TestSpeaksTheContract(t *testing.T) {
	s := listen(t, Behaviour{})
	for _, row := range []struct{ request, status, body string }{
		{get500, "200 OK", user500},
		{strings.Replace(get500, "500", "10000", 1), "200 OK", `{"id":"10000","name":"User 10000","email":"user10000@example.com"}`},
		{strings.Replace(get500, "500", "0500", 1), "404 Not Found", `{"error":"not found"}`},
		{strings.Replace(get500, "500", "10001", 1), "404 Not Found", `{"error":"not found"}`},
		{strings.Replace(get500, "GET", "HEAD", 1), "200 OK", ""},
		{strings.Replace(get500, "GET", "PUT", 1), "405 Method Not Allowed", `{"error":"method not allowed"}`},
		{post(`{"name":"<A>","email":"a@b"}`), "201 Created", `{"id":"10001","name":"<A>","email":"a@b"}`},
		{strings.Replace(get500, "500", "10001", 1), "200 OK", `{"id":"10001","name":"<A>","email":"a@b"}`},
		{post(`{"name":"","email":"a@b"}`), "400 Bad Request", `{"error":"name required"}`},
		{post(`{"name":"A","email":["@"]}`), "400 Bad Request", `{"error":"invalid email"}`},
		{post(`null`), "400 Bad Request", `{"error":"invalid json"}`},
		{post(`{"pad":"` + strings.Repeat("x", 16384) + `"}`), "413 Request Entity Too Large", `{"error":"body too large"}`},
	} {
		head, body, _ := strings.Cut(exchange(t, s, row.request), "\r\n\r\n")
		status, _, _ := strings.Cut(strings.TrimPrefix(head, "HTTP/1.1 "), "\r\n")
		if status != row.status || body != row.body || !strings.Contains(head, "Content-Type: application/json\r\n") {
			t.Errorf("%.60q: %q %q, want %q %q", row.request, status, body, row.status, row.body)
		}
		if strings.Contains(head, "chunked") {
			t.Errorf("%.60q: chunked", row.request)
		}
	}
	if s.Requests() != 12 || s.Accepts() != 12 {
		t.Errorf("counted %d requests on %d connections, sent 12 on 12", s.Requests(), s.Accepts())
	}
}

// Each wrong answer comes on every second request and on no other.
func TestWrongAnswers(t *testing.T) {
	for _, row := range []struct {
		answers Answers
		want    string // pattern of the whole wrong answer
	}{
		{Answers{Hangup: 2}, `^$`},
		{Answers{Truncate: 2}, `(?s)^HTTP/1.1 200 OK.*Content-Length: 60\r\n\r\n` + regexp.QuoteMeta(user500[:30]) + `$`},
		{Answers{ErrorBody: 2}, `(?s)^HTTP/1.1 200 OK.*\r\n\r\n\{"error":"internal"\}$`},
		{Answers{WrongBody: 2}, `(?s)^HTTP/1.1 200 OK.*Content-Length: 60\r\n.*\r\n\r\n.{60}$`},
		{Answers{NotFound: 2}, `(?s)^HTTP/1.1 404 .*not found`},
		{Answers{Broken: 2}, `^HTTP/1.1 500 `},
		{Answers{Redirect: 2}, `(?s)^HTTP/1.1 301 .*Location: /users/500/\r\n`},
	} {
		s := listen(t, Behaviour{Answers: row.answers})
		for i := 1; i <= 4; i++ {
			got := exchange(t, s, get500)
			right := strings.HasPrefix(got, "HTTP/1.1 200 OK") && strings.HasSuffix(got, "\r\n\r\n"+user500)
			if i%2 == 1 && !right || i%2 == 0 && (right || !regexp.MustCompile(row.want).MatchString(got)) {
				t.Errorf("%+v, request %d: %q", row.answers, i, got)
			}
		}
	}
}

func TestSilent(t *testing.T) {
	s := listen(t, Behaviour{Answers: Answers{Silent: 1}})
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, get500)
	c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d, %v", n, err)
	}
}

// Only lower bounds: a busy machine makes anything later.
func TestTiming(t *testing.T) {
	took := func(s *Server) time.Duration {
		begin := time.Now()
		exchange(t, s, get500)
		return time.Since(begin)
	}
	for _, busy := range []bool{false, true} {
		if d := took(listen(t, Behaviour{Timing: Timing{Delay: 30 * time.Millisecond, Busy: busy}})); d < 30*time.Millisecond {
			t.Errorf("busy %v: %v", busy, d)
		}
	}
	s := listen(t, Behaviour{Timing: Timing{SlowFirst: 1, SlowDelay: 40 * time.Millisecond}})
	if first := took(s); first < 40*time.Millisecond {
		t.Errorf("first: %v", first)
	}
	s = listen(t, Behaviour{Timing: Timing{StallFor: 50 * time.Millisecond}})
	begin := time.Now()
	s.Stall()
	exchange(t, s, get500)
	if d := time.Since(begin); d < 50*time.Millisecond {
		t.Errorf("stalled: %v", d)
	}
	// Frozen from 1 ms to 60 ms of each period.
	s = listen(t, Behaviour{Timing: Timing{StallEvery: 60 * time.Millisecond, StallFor: 59 * time.Millisecond}})
	for time.Since(s.clock.begin) < 2*time.Millisecond {
	}
	exchange(t, s, get500)
	if age := time.Since(s.clock.begin); age < 60*time.Millisecond {
		t.Errorf("answered %v after the start, in the freeze", age)
	}
}

func TestLeak(t *testing.T) {
	s := listen(t, Behaviour{Memory: Memory{AllocateMiB: 1, LeakBytes: 100}})
	exchange(t, s, get500)
	exchange(t, s, get500)
	var sizes []int
	for _, b := range s.hoard.kept {
		sizes = append(sizes, len(b))
	}
	if !slices.Equal(sizes, []int{1 << 20, 100, 100}) {
		t.Errorf("kept %v", sizes)
	}
}

// As a process it prints the ready line, answers, and ends on SIGTERM with 0.
func TestAsProcess(t *testing.T) {
	program := filepath.Join(t.TempDir(), "stub")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, argv := range [][]string{Argv("-workers", "2"), {program, "-workers", "2"}, {program}} {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "GONOGO_TOKEN=t0", "PORT=0")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		var port int
		if m := regexp.MustCompile(`"port":(\d+)`).FindStringSubmatch(line); m != nil {
			fmt.Sscan(m[1], &port)
		}
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/healthz", port))
		if err != nil {
			t.Fatalf("%v, after %q", err, line)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(body), `"token":"t0"`) || !strings.Contains(string(body), `"requests":[0`) {
			t.Errorf("health: %s", body)
		}
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", argv, err)
		}
	}
}

// Python, x = 88172645463325252:
//
//	x ^= x << 13 & 2**64-1; x ^= x >> 7; x ^= x << 17 & 2**64-1
func TestSpinDoesItsSteps(t *testing.T) {
	for steps, want := range map[int]uint64{0: 88172645463325252, 1: 8748534153485358512, 2: 3040900993826735515} {
		if got := spin(steps); got != want {
			t.Errorf("spin(%d) = %d, want %d", steps, got, want)
		}
	}
}
