package main

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

const resultBytes = 2500

var resultText = strings.Repeat("x", resultBytes)

// One call with its result. With `usage`, the reply says what the provider billed, as eino's summarization likes it.
func pushRound(state *adk.ChatModelAgentState, usage bool) {
	id := fmt.Sprintf("call_%d", len(state.Messages))
	call := schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: "read", Arguments: `{"path":"src/main.cpp"}`}}
	reply := schema.AssistantMessage("", []schema.ToolCall{call})
	if usage {
		reply.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{TotalTokens: 1 + 320*len(state.Messages)}}
	}
	state.Messages = append(state.Messages, reply,
		schema.ToolMessage(strings.Clone(resultText), id, schema.WithToolName("read")))
}

func historyOf(n int, usage bool) *adk.ChatModelAgentState {
	state := &adk.ChatModelAgentState{Messages: []adk.Message{schema.UserMessage("go")}}
	for len(state.Messages) < n {
		pushRound(state, usage)
	}
	return state
}

func clearedIn(state *adk.ChatModelAgentState) int {
	count := 0
	for _, message := range state.Messages {
		if message.Role == schema.Tool && len(message.Content) < resultBytes/2 {
			count++
		}
	}
	return count
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// Of the processor, the garbage collector's included.
func secondsOf(work func()) float64 {
	start := cpuSeconds()
	work()
	return cpuSeconds() - start
}
