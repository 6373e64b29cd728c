import assert from 'node:assert/strict';
import type { Connection } from './clients.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Calls a tool, asserts success and returns its result. */
export async function succeed(client: Connection, tool: string, args: Fields = {}): Promise<Fields> {
  const { isError, text, structured } = await client.call(tool, args);
  assert.equal(isError, false, `${tool}: ${text}`);
  return structured;
}

/** Returns all items of a list, page by page. */
export async function everyItem(client: Connection, tool: string, list: string, args: Fields = {}): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let cursor: unknown; ; ) {
    const page = await succeed(client, tool, { ...args, ...(cursor !== undefined && { cursor }) });
    const found = page[list];
    assert.ok(Array.isArray(found), `${tool} answers ${list}`);
    items.push(...found);
    if (page['truncated'] !== true) return items;
    cursor = page['next_cursor'];
    assert.equal(typeof cursor, 'string', `${tool} says how to go on`);
  }
}
