package contract

import (
	"context"
	"strings"
	"testing"
)

// pins are the statuses that each runtime gives where it may decide before the
// application does. They are no part of the contract; an upgrade of a runtime
// that changes one should be noticed, since it changes what was compared. 0 is
// a connection closed without an answer.
var pins = map[string]struct{ goStatus, nodeStatus int }{
	"C14e half-closed in the body":         {400, 400},
	"C14f half-closed in a chunk":          {400, 400},
	"C17 malformed escape 0 /users/%":      {400, 400},
	"C19p OPTIONS of the server":           {200, 404},
	"C19 list FOO":                         {405, 400},
	"C19 user get":                         {405, 400},
	"C22a no Host":                         {400, 400},
	"C22b two lengths":                     {400, 400},
	"C22c length and chunks":               {201, 400},
	"C22d unknown coding":                  {501, 400},
	"C22e unknown coding before chunks":    {501, 201},
	"C22f header of 20 000 bytes":          {200, 431},
	"C22h HTTP/1.0":                        {200, 200},
	"C22i bytes above ASCII in the target": {404, 400},
	"C22j invalid UTF-8 in the target":     {400, 400},
	"C22k bad chunk size":                  {400, 400},
	"C22l chunk longer than its size":      {400, 400},
	"C22m negative length":                 {400, 400},
	"C22n length with a sign":              {400, 400},
	"C22o length of 20 digits":             {400, 400},
	"C22p blank before the colon":          {400, 400},
	"C22q NUL in a header":                 {400, 400},
	"C22r control character in the target": {400, 400},
	"C22s not HTTP":                        {400, 400},
	"C22t target without a slash":          {400, 400},
	"C22x unknown expectation":             {417, 417},
	"C22v expectation of a GET":            {200, 200},
	"C22w expectation, too large":          {413, 413},
	"C22u expectation":                     {201, 201},
}

// pinnedNode is the major version whose statuses are above.
const pinnedNode = "v20."

func TestPins(t *testing.T) {
	rows := map[string]row{}
	for _, r := range table() {
		rows[r.name] = r
	}
	each(t, func(t *testing.T, p *process) {
		h := p.health(t)
		for name, pin := range pins {
			r, exists := rows[name]
			if !exists {
				t.Errorf("there is no case %q", name)
				continue
			}
			want := pin.goStatus
			if h.Runtime == "node" {
				want = pin.nodeStatus
			}
			got := r.run(context.Background(), p.Server).reply.status
			if got == want {
				continue
			}
			if h.Runtime == "node" && !strings.HasPrefix(h.Version, pinnedNode) {
				t.Logf("%s: status %d with Node %s, %d with %sx", name, got, h.Version, want, pinnedNode)
				continue
			}
			t.Errorf("%s: status %d, want %d", name, got, want)
		}
	})
}
