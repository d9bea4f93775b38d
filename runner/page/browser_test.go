package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"gonogo/runner/findings"
	"gonogo/runner/internal/example"
)

// tab opens a page in the system's browser. Without one the test is skipped, and
// REQUIRE_BROWSER=1 makes that a failure. Nothing is downloaded.
func tab(t *testing.T) context.Context {
	t.Helper()
	var exe string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			exe = p
			break
		}
	}
	if exe == "" {
		if os.Getenv("REQUIRE_BROWSER") == "1" {
			t.Fatal("REQUIRE_BROWSER=1, and there is no chromium")
		}
		t.Skip("SKIPPED: no chromium or Chrome on this system; the page was NOT looked at in a browser")
	}
	opts := []chromedp.ExecAllocatorOption{chromedp.ExecPath(exe), chromedp.UserDataDir(t.TempDir()), chromedp.CombinedOutput(io.Discard)}
	for _, f := range []string{"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "no-default-browser-check", "disable-background-networking",
		"disable-component-update", "disable-sync", "disable-dev-shm-usage", "hide-scrollbars"} {
		opts = append(opts, chromedp.Flag(f, true))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, opts...)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits until the browser is gone
			t.Logf("close the browser: %v", err)
		}
		cancelTab()
		cancelAllocator()
		cancel()
	})
	return ctx
}

// served puts a page on a loopback port, so that a request for anything else shows.
func served(t *testing.T, html string) (url string, asked func() []string) {
	var mu sync.Mutex
	var paths []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, html)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/report.html", func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(paths)
	}
}

// complaints gathers what the browser says against a page and what it asks for.
type complaints struct {
	mu       sync.Mutex
	said     []string
	requests []string
}

func listen(ctx context.Context, t *testing.T) *complaints {
	c := &complaints{}
	err := chromedp.Listen(ctx, func(ev any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch ev := ev.(type) {
		case *cdpruntime.EventConsoleAPICalled:
			c.said = append(c.said, fmt.Sprintf("console.%s", ev.Type))
		case *cdpruntime.EventExceptionThrown:
			c.said = append(c.said, ev.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			c.said = append(c.said, ev.Entry.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(ev.Request.URL, "data:") {
				c.requests = append(c.requests, ev.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// number is a data element or a mark of the page.
type number struct {
	Tag, Text, Figure, Value, Target, Scenario, Metric, Stat, X string
}

const numbersJS = `JSON.stringify(Array.from(document.querySelectorAll('[data-value]')).map(e => ({
	Tag: e.tagName, Text: e.tagName == 'DATA' ? e.textContent : '', Figure: e.closest('figure') ? e.closest('figure').querySelector('h3').textContent : '',
	Value: e.dataset.value, Target: e.dataset.target, Scenario: e.dataset.scenario, Metric: e.dataset.metric, Stat: e.dataset.stat, X: e.dataset.x || ''})))`

// wideJS lists what reaches beyond the window, but for what scrolls in its own box.
const wideJS = `JSON.stringify([document.documentElement.scrollWidth > innerWidth ? ['page ' + document.documentElement.scrollWidth] : [],
	Array.from(document.body.querySelectorAll('*')).filter(e => !e.closest('.scroll > *') && !e.closest('svg *') && e.getClientRects().length && e.getBoundingClientRect().right > innerWidth + 0.5)
	.map(e => e.tagName + '.' + e.className)].flat())`

// coloursJS lists text colours with the ground they stand on.
const coloursJS = `JSON.stringify(['body', '.lead', '.small', 'a', 'td', 'th', 'summary', '.tile p', '.word', 'code', '.watermark'].flatMap(q =>
	Array.from(document.querySelectorAll(q)).slice(0, 8).map(e => {
		let g = e; while (g && getComputedStyle(g).backgroundColor == 'rgba(0, 0, 0, 0)') g = g.parentElement;
		return [q, getComputedStyle(e).color, getComputedStyle(g || document.body).backgroundColor] })))`

func call[P, R any](ctx context.Context, t *testing.T, c cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(ctx, c, params); err != nil {
		t.Fatal(err)
	}
}

func evaluate[T any](ctx context.Context, t *testing.T, js string) T {
	t.Helper()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](js))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// shownJS counts tables in closed parts that take no place on the page.
const shownJS = `String([...document.querySelectorAll('details table')].filter(t => !t.checkVisibility({contentVisibilityAuto: true}) || t.getBoundingClientRect().height === 0).length)`

// TestBrowser looks at the page as readers do: wide and narrow, light, dark and in
// print, with all tables open.
func TestBrowser(t *testing.T) {
	ctx := tab(t)
	s := example.Session()
	e := findings.Evaluate(s)
	var b bytes.Buffer
	if err := HTML(&b, s, e); err != nil {
		t.Fatal(err)
	}
	url, asked := served(t, b.String())
	heard := listen(ctx, t)
	for _, enable := range []cdp.Command[cdp.Empty, cdp.Empty]{log.Enable, cdpruntime.Enable} {
		call(ctx, t, enable, cdp.Empty{})
	}
	call(ctx, t, network.Enable, network.EnableParams{})
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	numbers := evaluate[[]number](ctx, t, numbersJS)
	for _, look := range []struct {
		name, scheme, media string
		width, height       int64
	}{
		{"desktop light", "light", "", 1280, 900}, {"desktop dark", "dark", "", 1280, 900},
		{"phone light", "light", "", 390, 844}, {"phone dark", "dark", "", 390, 844}, {"print", "light", "print", 718, 1000},
	} {
		call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: look.width, Height: look.height, DeviceScaleFactor: 1, Mobile: look.width < 500})
		call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: look.media,
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}})
		shot(ctx, t, look.name)
		for _, open := range []bool{true, false} {
			evaluate[int](ctx, t, fmt.Sprintf(`document.querySelectorAll('details').forEach(d => d.open = %v); '0'`, open))
			if wide := evaluate[[]string](ctx, t, wideJS); len(wide) > 0 {
				t.Errorf("%s, tables open %v: beyond %d px reach %v", look.name, open, look.width, wide[:min(5, len(wide))])
			}
		}
		// The tables are closed now; on paper they are there all the same.
		if tables := evaluate[int](ctx, t, shownJS); look.media == "print" && tables > 0 {
			t.Errorf("%s: %d tables are folded away", look.name, tables)
		} else if look.media == "" && tables == 0 {
			t.Errorf("%s: no table is folded", look.name)
		}
		contrasts(t, look.name, look.scheme == "dark", evaluate[[][3]string](ctx, t, coloursJS))
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	if len(heard.said) > 0 {
		t.Errorf("the browser complains: %v", heard.said)
	}
	if got := asked(); len(got) != 1 || len(heard.requests) != 1 || heard.requests[0] != url {
		t.Errorf("the page asked for %v and %v, want itself once", got, heard.requests)
	}
	held(t, numbers, oracle(t, s, e))
	straight(t, numbers)
}

// shot keeps a picture for a reader if PAGE_SHOTS names a folder.
func shot(ctx context.Context, t *testing.T, name string) {
	dir := os.Getenv("PAGE_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// contrasts holds text against its ground: 4.5 to 1 is WCAG 2.2's AA for small text.
func contrasts(t *testing.T, name string, dark bool, colours [][3]string) {
	for _, c := range colours {
		a, b := luminance(t, c[1]), luminance(t, c[2])
		if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
			t.Errorf("%s: %s is %s on %s: contrast %.2f", name, c[0], c[1], c[2], ratio)
		}
		if c[0] == "body" && dark != (b < 0.1) {
			t.Errorf("%s: the ground is %s", name, c[2])
		}
	}
}

// luminance is WCAG's relative luminance of "rgb(r, g, b)".
func luminance(t *testing.T, css string) float64 {
	var rgb [3]float64
	if _, err := fmt.Sscanf(css, "rgb(%f, %f, %f)", &rgb[0], &rgb[1], &rgb[2]); err != nil {
		t.Fatalf("colour %q: %v", css, err)
	}
	for i, c := range rgb {
		if c /= 255; c <= 0.03928 {
			rgb[i] = c / 12.92
		} else {
			rgb[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}
