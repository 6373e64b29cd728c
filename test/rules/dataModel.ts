/** The tables in docs/data-model.md. */
import { type Permission, permissions } from '../../functions/src/access/rules/permissions.ts';
import { type DeclaredIndexes, describeFields } from './declaredIndexes.ts';

/** Returns the text of each table, by the name in the markers that enclose the table in the page. */
export function printTables(indexes: DeclaredIndexes): ReadonlyMap<string, string> {
  return new Map([
    ['firestore', table(['path', 'contents', 'read by', 'written by'], rowsOf('firestore').map(accessOf))],
    ['indexes', table(['collection', 'composite indexes'], compositeIndexes(indexes))],
    ['exemptions', table(['collection', 'fields without a single-field index'], exemptions(indexes))],
    [
      'realtime',
      table(
        ['path', 'contents', 'read by', 'written by', 'ordered by'],
        rowsOf('realtime').map((row) => [...accessOf(row), (row.indexOn ?? []).map(code).join(', ')]),
      ),
    ],
  ]);
}

/** Inserts each table between its markers `<!-- name -->` and `<!-- /name -->` in the page. */
export function fillIn(page: string, tables: ReadonlyMap<string, string>): string {
  let filled = page;
  for (const [name, text] of tables) {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const from = filled.indexOf(start);
    const to = filled.indexOf(end);
    if (from === -1 || to < from) throw new Error(`the page has no markers for the table ${name}`);
    filled = `${filled.slice(0, from + start.length)}\n\n${text}\n\n${filled.slice(to)}`;
  }
  return filled;
}

function rowsOf(database: Permission['database']): readonly Permission[] {
  return permissions.filter((row) => row.database === database);
}

function accessOf(row: Permission): string[] {
  const { path, holds, reads, writes, keeper } = row;
  const readers = reads === 'no one' && keeper !== undefined ? 'the server' : whoFrom(row, reads);
  const owners = row.ownerField !== undefined && hasPlace(reads) ? '; its owner and their agents' : '';
  const held = row.spansWorkspaces ? '; not with a credential that is restricted to one workspace' : '';
  const each = row.unlisted && reads !== 'no one' ? ', single entries only' : '';
  const writers = writes === 'no one' && keeper !== undefined ? `the server: ${keeper}` : whoFrom(row, writes);
  return [path === '{path=**}' ? 'anything else' : code(path), holds, `${readers}${owners}${each}${held}`, writers];
}

function hasPlace(min: Permission['reads']): boolean {
  return !['no one', 'owner', 'owner and agents'].includes(min);
}

function whoFrom({ where, ownerNeeds }: Permission, min: Permission['reads']): string {
  if (min === 'no one') return min;
  if (min === 'owner') return 'its owner';
  if (min === 'owner and agents' && ownerNeeds !== undefined)
    return `its owner and their agents, with at least the role ${ownerNeeds} ${placeOf(where)}`;
  if (min === 'owner and agents') return `its owner and their agents${heldTo(where)}`;
  if (where === 'deployment') return `${min} of the deployment`;
  return `${min} and up ${placeOf(where)}`;
}

function heldTo(where: Permission['where']): string {
  return typeof where === 'object' && 'field' in where
    ? `, except those restricted to another ${code(where.field)}`
    : '';
}

function placeOf(where: Permission['where']): string {
  if (where === 'default') return 'of `default`';
  if (typeof where === 'string') return 'of any workspace';
  if ('variable' in where) return `of ${code(where.variable)}`;
  if ('field' in where) return `of its ${code(where.field)}`;
  return `of ${code(where.first)}`;
}

function compositeIndexes({ indexes }: DeclaredIndexes): string[][] {
  return byCollection(indexes).map(([name, own]) => [
    code(name),
    own.map((index) => describeFields(index.fields)).join('<br>'),
  ]);
}

function exemptions({ fieldOverrides }: DeclaredIndexes): string[][] {
  return byCollection(fieldOverrides).map(([name, own]) => {
    return [code(name), own.map((field) => `${code(field.fieldPath)}${remarkOn(field)}`).join(', ')];
  });
}

function remarkOn({ ttl, indexes }: DeclaredIndexes['fieldOverrides'][number]): string {
  if (ttl) return ' (TTL: the document is deleted at this time)';
  const [own] = indexes;
  if (own === undefined) return '';
  const where = own.queryScope === 'COLLECTION_GROUP' ? ' over all collections of this name' : '';
  return ` (only an ascending index${where})`;
}

function byCollection<Item extends { collectionGroup: string }>(items: readonly Item[]): [string, Item[]][] {
  const names = [...new Set(items.map((item) => item.collectionGroup))];
  return names.map((name) => [name, items.filter((item) => item.collectionGroup === name)]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
