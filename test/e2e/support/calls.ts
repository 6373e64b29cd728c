import assert from 'node:assert/strict';
import type { Connection } from './clients.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Calls a tool, asserts that the call succeeds, and returns the result. */
export async function succeed(client: Connection, tool: string, args: Fields = {}): Promise<Fields> {
  const { isError, text, structured } = await client.call(tool, args);
  assert.equal(isError, false, `${tool}: ${text}`);
  return structured;
}

/** Calls a list tool once per page of its list, and returns the items of all pages. */
export async function everyItem(client: Connection, tool: string, list: string, args: Fields = {}): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let cursor: unknown; ; ) {
    const page = await succeed(client, tool, { ...args, ...(cursor !== undefined && { cursor }) });
    const found = page[list];
    assert.ok(Array.isArray(found), `${tool} returns ${list}`);
    items.push(...found);
    if (page['truncated'] !== true) return items;
    cursor = page['next_cursor'];
    assert.equal(typeof cursor, 'string', `${tool} returns a cursor for the next page`);
  }
}
