package plan

import "gonogo/runner/record"

// Request is a request of the users API by name: get, post, or miss, for which
// 404 is the right answer.
func Request(name string) (record.Request, bool) {
	switch name {
	case "get":
		return get[0], true
	case "post":
		return post[0], true
	case "miss":
		return record.Request{Method: "GET", Path: "/users/none{id}", WantStatus: 404, WantBody: `{"error":"not found"}`}, true
	}
	return record.Request{}, false
}
