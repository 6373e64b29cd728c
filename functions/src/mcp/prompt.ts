/** Definition of a prompt: a text that a person picks in their client. Source: CONTRIBUTING.md#add-a-prompt. */
import { z } from 'zod';
import { lazy } from '../kernel/memoCache.ts';
import { terminalText } from '../kernel/text.ts';
import type { VariableCompletion } from './resource.ts';
import { argumentsChecker } from './validation.ts';

interface PromptDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Whether the text leads to calls that write, so that read-only addresses omit the prompt. */
  readonly writes?: true;
}

interface PromptDefinition<Services, Input extends z.ZodObject> extends PromptDescription {
  /** Schema with a text per argument, each with a title and a description. */
  readonly input: Input;
  readonly complete?: Readonly<Partial<Record<keyof z.output<Input>, VariableCompletion<Services>>>>;
  /** Instructions for the model, one per line, with full tool names. The arguments are appended. */
  readonly text: string;
}

/** Argument of a prompt. Source: MCP 2025-11-25, PromptArgument. */
interface PromptArgument {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
}

export interface Prompt<in Services = never> extends PromptDescription {
  readonly arguments: readonly PromptArgument[];
  readonly completions: ReadonlyMap<string, VariableCompletion<Services>>;
  readonly text: string;
  /** Returns the arguments as text. @throws MusterError that names the argument that is missing or invalid */
  given(rawArguments: Readonly<Record<string, unknown>>): string;
}

const MAX_ARGUMENT_LENGTH = 20_000;

/** Returns the schema of an argument. */
export const promptArgument = (title: string, description: string) =>
  z.string().trim().min(1).max(MAX_ARGUMENT_LENGTH).meta({ title, description });

/** Returns the function with which a toolset declares prompts. `Services`: the services of the toolset. */
export function promptsFor<Services>() {
  return <Input extends z.ZodObject>({ input, complete, ...prompt }: PromptDefinition<Services, Input>) => {
    const listed = Object.entries<z.ZodType>(input.shape).map(([name, schema]) => {
      const { title = name, description = '' } = schema.meta() ?? {};
      return { name, title, description, required: !schema.safeParse(undefined).success };
    });
    const check = lazy(() => argumentsChecker(input));
    const completions = Object.entries<VariableCompletion<Services> | undefined>(complete ?? {});
    return {
      ...prompt,
      arguments: listed,
      completions: new Map(completions.flatMap(([name, one]) => (one ? [[name, one] as const] : []))),
      given(rawArguments: Readonly<Record<string, unknown>>) {
        const values = check()(rawArguments);
        const lines = listed.flatMap(({ name, title }) => {
          const value = values[name];
          return typeof value === 'string' ? [`${title}: ${terminalText(value)}`] : [];
        });
        return lines.join('\n\n');
      },
    } satisfies Prompt<Services>;
  };
}

/** A prompt that the URL selects. */
export interface FoundPrompt {
  readonly toolset: string;
  readonly prompt: Prompt;
}

/** Returns the text of a prompt. `named` replaces tool names by those of the endpoint. @throws MusterError */
export function promptText(
  { prompt }: FoundPrompt,
  given: Readonly<Record<string, unknown>>,
  named: (text: string) => string,
): string {
  const values = prompt.given(given);
  return [named(prompt.text), ...(values === '' ? [] : [values])].join('\n\n');
}
