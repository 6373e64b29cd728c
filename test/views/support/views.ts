/** The views in the form in which they are deployed with the functions. */
import { readFileSync } from 'node:fs';

export const VIEWS = ['goal', 'todos', 'run', 'coding'] as const;
export type ViewName = (typeof VIEWS)[number];
const BUILT = new URL('../../../functions/dist/lib/views/', import.meta.url);

export function readViews(): Readonly<Record<ViewName, string>> {
  const read = (name: ViewName) => readFileSync(new URL(`${name}.html`, BUILT), 'utf8');
  return { goal: read('goal'), todos: read('todos'), run: read('run'), coding: read('coding') };
}

/** Returns a tool result in the form that hosts forward to views. */
export function resultOf(structuredContent: Readonly<Record<string, unknown>>) {
  return { content: [{ type: 'text', text: 'As text.' }], structuredContent };
}
