package main

import (
	"net/http/httptest"
	"testing"

	"gonogo/runner/contract"
)

func TestContract(t *testing.T) {
	server := httptest.NewServer(newAPI(newStore()))
	defer server.Close()
	result, err := contract.Check(t.Context(), []contract.Server{{Name: "go", Address: server.Listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Differences) > 0 {
		t.Error(result)
	}
}
