// The rows of bench/chain.py with eino's reduction and summarization middlewares. `usage` is summarization again, on a
// history whose replies tell their usage. Usage: eino reduction|summarization|usage undue|clear|session|summary|cut N
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

const never = 1 << 50

type row struct {
	seconds   float64
	check     int
	toRequest float64 // summary: until the model is asked
	passAlone float64 // undue: the hook run by itself
}

func undueHook(middleware string) hook {
	if middleware == "reduction" {
		return clearing(never)
	}
	return summarizing(never)
}

// Each step is on a history of the same size. A pass alone is a median of times on the wall.
func undue(middleware string, n int) row {
	usage := middleware == "usage"
	run, state := undueHook(middleware), historyOf(n, usage)
	size := len(state.Messages)
	const steps = 200
	seconds := secondsOf(func() {
		for i := 0; i < steps; i++ {
			state.Messages = state.Messages[:size]
			pushRound(state, usage)
			state = run(state)
		}
	})
	passes := make([]float64, steps+1)
	for i := range passes {
		state.Messages = state.Messages[:size]
		pushRound(state, usage)
		start := time.Now()
		state = run(state)
		passes[i] = time.Since(start).Seconds()
	}
	sort.Float64s(passes)
	return row{seconds: seconds / steps, check: clearedIn(state), passAlone: passes[steps/2]}
}

func session(middleware string, n int) row {
	usage := middleware == "usage"
	run, state := undueHook(middleware), historyOf(1, usage)
	seconds := secondsOf(func() {
		for i := 0; i < n; i++ {
			pushRound(state, usage)
			state = run(state)
		}
	})
	return row{seconds: seconds, check: clearedIn(state)}
}

func clear(_ string, n int) row {
	run, state := clearing(1000), historyOf(n, false)
	seconds := secondsOf(func() { state = run(state) })
	return row{seconds: seconds, check: clearedIn(state)}
}

// The check is the number of summaries in place of a history that was longer.
func summarize(_ string, n int) row {
	run, state := summarizing(100000), historyOf(n, false)
	start := cpuSeconds()
	state = run(state)
	result := row{seconds: cpuSeconds() - start, toRequest: asked - start}
	if len(state.Messages) >= n {
		return result
	}
	for _, message := range state.Messages {
		if strings.Contains(message.Content, summary) {
			result.check++
		}
	}
	return result
}

// The check is the number of texts that were cut and are whole in the backend.
func cut(_ string, n int) row {
	const limit, steps = 2000, 100
	backend := filesystem.NewInMemoryBackend()
	text := strings.Repeat("2026-11-22T10:00:00Z worker 17: request finished in 12 ms\n", n/58+1)[:n]
	run := truncated(limit, text, backend)
	shown := make([]string, steps)
	seconds := secondsOf(func() {
		for i := range shown {
			shown[i] = run(fmt.Sprintf("call_%d", i))
		}
	})
	whole := 0
	for i := range shown {
		file, err := backend.Read(ctx, &filesystem.ReadRequest{FilePath: fmt.Sprintf("/tmp/trunc/call_%d", i)})
		if err == nil && file.Content == text && len(shown[i]) < 2*limit {
			whole++
		}
	}
	return row{seconds: seconds / steps, check: whole}
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: eino reduction|summarization|usage undue|clear|session|summary|cut N")
		os.Exit(2)
	}
	rows := map[string]func(string, int) row{
		"undue": undue, "clear": clear, "session": session, "summary": summarize, "cut": cut}
	n, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	result := rows[os.Args[2]](os.Args[1], n)
	fmt.Printf("{\"row\": %q, \"n\": %d, \"seconds\": %.9f, \"check\": %d", os.Args[2], n, result.seconds, result.check)
	if result.toRequest > 0 {
		fmt.Printf(", \"seconds_to_request\": %.9f", result.toRequest)
	}
	if result.passAlone > 0 {
		fmt.Printf(", \"seconds_pass_alone\": %.9f", result.passAlone)
	}
	fmt.Println("}")
}
