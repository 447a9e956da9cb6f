// The rows of bench/chain.py with eino's reduction (clearing of tool results). Usage: eino undue|clear|session N
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/schema"
)

const (
	never       = 1 << 50
	resultBytes = 2500
	// Of two rounds: a result and its arguments, a quarter of the characters each, rounded up. eino also keeps the result
	// that goes beyond the budget: three in all.
	keepThree = 2 * (resultBytes/4 + 7)
)

var ctx = context.Background()

func pushRound(state *adk.ChatModelAgentState) {
	id := fmt.Sprintf("call_%d", len(state.Messages))
	call := schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: "read", Arguments: `{"path":"src/main.cpp"}`}}
	state.Messages = append(state.Messages, schema.AssistantMessage("", []schema.ToolCall{call}),
		schema.ToolMessage(strings.Repeat("x", resultBytes), id, schema.WithToolName("read")))
}

func historyOf(n int) *adk.ChatModelAgentState {
	state := &adk.ChatModelAgentState{Messages: []adk.Message{schema.UserMessage("go")}}
	for len(state.Messages) < n {
		pushRound(state)
	}
	return state
}

func hookOf(trigger int) func(*adk.ChatModelAgentState) {
	middleware, err := reduction.NewClearToolResult(ctx, &reduction.ClearToolResultConfig{
		ToolResultTokenThreshold: trigger, KeepRecentTokens: keepThree})
	if err != nil {
		panic(err)
	}
	return func(state *adk.ChatModelAgentState) {
		if err := middleware.BeforeChatModel(ctx, state); err != nil {
			panic(err)
		}
	}
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

func undue(n int) (float64, *adk.ChatModelAgentState) {
	hook, state := hookOf(never), historyOf(n)
	const steps = 200
	return secondsOf(func() {
		for i := 0; i < steps; i++ {
			pushRound(state)
			hook(state)
		}
	}) / steps, state
}

func clear(n int) (float64, *adk.ChatModelAgentState) {
	hook, state := hookOf(1000), historyOf(n)
	return secondsOf(func() { hook(state) }), state
}

func session(n int) (float64, *adk.ChatModelAgentState) {
	hook, state := hookOf(never), historyOf(1)
	return secondsOf(func() {
		for i := 0; i < n; i++ {
			pushRound(state)
			hook(state)
		}
	}), state
}

func main() {
	rows := map[string]func(int) (float64, *adk.ChatModelAgentState){"undue": undue, "clear": clear, "session": session}
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	seconds, state := rows[os.Args[1]](n)
	check := 0
	for _, message := range state.Messages {
		if message.Role == schema.Tool && len(message.Content) < resultBytes/2 {
			check++
		}
	}
	fmt.Printf("{\"row\": %q, \"n\": %d, \"seconds\": %.9f, \"check\": %d}\n", os.Args[1], n, seconds, check)
}
