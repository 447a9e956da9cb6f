package main

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

var ctx = context.Background()

type hook func(*adk.ChatModelAgentState) *adk.ChatModelAgentState

func hookOf(middleware adk.ChatModelAgentMiddleware, err error) hook {
	if err != nil {
		panic(err)
	}
	return func(state *adk.ChatModelAgentState) *adk.ChatModelAgentState {
		_, after, err := middleware.BeforeModelRewriteState(ctx, state, nil)
		if err != nil {
			panic(err)
		}
		return after
	}
}

// Counts with its own default, a quarter of the bytes; originals go to its backend in memory.
func clearing(trigger int64) hook {
	return hookOf(reduction.New(ctx, &reduction.Config{
		Backend: filesystem.NewInMemoryBackend(), SkipTruncation: true,
		MaxTokensForClear: trigger, ClearRetentionSuffixLimit: 3}))
}

// Counts with its own default: the usage of the newest reply that has one, and a quarter of the bytes behind it.
func summarizing(trigger int) hook {
	return hookOf(summarization.New(ctx, &summarization.Config{
		Model: readyModel{}, Trigger: &summarization.TriggerCondition{ContextTokens: trigger}}))
}

// Answers at once.
type readyModel struct{}

var asked float64 // when the model was

const summary = "The user asked to go. src/main.cpp was read in every step and nothing was changed. Next: answer."

func (readyModel) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	asked = cpuSeconds()
	return schema.AssistantMessage(summary, nil), nil
}

func (readyModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("not asked for")
}

// A tool that gives `text`, with results over `limit` bytes truncated.
func truncated(limit int, text string, backend reduction.Backend) func(id string) string {
	middleware, err := reduction.New(ctx, &reduction.Config{Backend: backend, SkipClear: true, MaxLengthForTrunc: limit})
	if err != nil {
		panic(err)
	}
	return func(id string) string {
		endpoint, err := middleware.WrapInvokableToolCall(ctx,
			func(context.Context, string, ...tool.Option) (string, error) { return text, nil },
			&adk.ToolContext{Name: "read", CallID: id})
		if err != nil {
			panic(err)
		}
		shown, err := endpoint(ctx, `{"path":"src/main.cpp"}`)
		if err != nil {
			panic(err)
		}
		return shown
	}
}
