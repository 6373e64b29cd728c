/** The views as the deployed function serves them. */
import { connectAt } from '../../support/clients.ts';
import { endpointUrl, tokenOf } from '../../support/endpoint.ts';

export const VIEWS = ['goal', 'todos', 'run', 'coding'] as const;
export type ViewName = (typeof VIEWS)[number];

export async function readViews(): Promise<Readonly<Record<ViewName, string>>> {
  const client = await connectAt('client 2026-07-28', endpointUrl(), await tokenOf('leader'));
  const read = (name: ViewName) => client.read(`ui://muster/${name}`);
  const [goal, todos, run, coding] = await Promise.all(VIEWS.map(read));
  await client.close();
  return { goal: goal ?? '', todos: todos ?? '', run: run ?? '', coding: coding ?? '' };
}

/** An answer as hosts hand it on. */
export function resultOf(structuredContent: Readonly<Record<string, unknown>>) {
  return { content: [{ type: 'text', text: 'As text.' }], structuredContent };
}
