/** Definition of a prompt: a text that a person picks in their client. Source: CONTRIBUTING.md#add-a-prompt. */
import { z } from 'zod';
import { lazy } from '../kernel/memoCache.ts';
import { terminalText } from '../kernel/text.ts';
import type { VariableCompletion } from './resource.ts';
import { argumentsChecker } from './validation.ts';

interface PromptTexts {
  readonly title: string;
  readonly description: string;
  /** Whether the text leads to calls that write, so that read-only addresses omit the prompt. */
  readonly writes?: boolean;
  /** Instructions for the model, one per line, with full tool names. The arguments are appended. */
  readonly text: readonly string[];
}

export interface Prompt<in Services = never> extends PromptTexts {
  readonly name: string;
  /** Arguments as clients list them. Source: MCP 2025-11-25, PromptArgument. */
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
  readonly completions: Readonly<Record<string, VariableCompletion<Services>>>;
  /** @throws MusterError that names the argument that is missing or invalid */
  check(rawArguments: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

/** Returns the function with which a toolset declares prompts. `Services`: the services of the toolset. */
export function promptsFor<Services>() {
  return (
    name: string,
    texts: PromptTexts,
    shape: Readonly<Record<string, z.ZodType<string | undefined>>> = {},
    completions: Prompt<Services>['completions'] = {},
  ): Prompt<Services> => {
    const check = lazy(() => argumentsChecker(z.strictObject(shape)));
    const listed = Object.entries(shape).map(([argument, schema]) => ({
      name: argument,
      description: schema.description ?? '',
      required: !schema.safeParse(undefined).success,
    }));
    return { ...texts, name, completions, arguments: listed, check: (given) => check()(given) };
  };
}

/** A prompt that the URL selects. */
export interface FoundPrompt {
  readonly toolset: string;
  readonly prompt: Prompt;
}

/** Returns the text of a prompt. `named` replaces tool names by those of the endpoint. @throws MusterError */
export function promptText(
  { text, check }: Prompt,
  rawArguments: Readonly<Record<string, string>>,
  named: (text: string) => string,
): string {
  // Clients send an empty text for an argument that the person left out.
  const filled = Object.entries(rawArguments).filter(([, value]) => value.trim() !== '');
  const given = Object.entries(check(Object.fromEntries(filled)));
  const lines = given.map(([name, value]) => `${name}: ${terminalText(String(value))}`);
  return [named(text.join('\n')), ...lines].join('\n\n');
}
