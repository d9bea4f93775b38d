//go:build goexperiment.jsonv2

package main

import (
	"encoding/json/v2"
	"net/http"
)

// In a build with this experiment encoding/json itself runs on the code of v2, so
// the variant is v2 all through, and its own encoder is called without the old form.
func init() {
	variants["json2"] = func() http.Handler { return exchange(parts{reply: replyJSON2}) }
}

func replyJSON2(w http.ResponseWriter, status int, u user) {
	body, err := json.Marshal(u)
	if err != nil {
		panic(err) // only strings come here
	}
	send(w, status, body)
}
