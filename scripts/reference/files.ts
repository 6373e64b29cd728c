/** Files generated from the tools' definitions, with their contents. */
import { existsSync, readFileSync } from 'node:fs';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { agentsAndModelsPage, configurationPage, indexPage, toolsetPage, toolsetTable } from './pages.ts';
import { toolsetSnapshot } from './snapshots.ts';

export interface ReferenceFile {
  /** Path relative to the repository's root. */
  readonly path: string;
  readonly url: URL;
  readonly text: string;
}

const root = new URL('../../', import.meta.url);
const BEGIN = '<!-- tools:begin -->';
const END = '<!-- tools:end -->';

export function referenceFiles(): readonly ReferenceFile[] {
  return [
    file('docs/reference/README.md', indexPage(toolsets)),
    file('docs/reference/configuration.md', configurationPage()),
    file('docs/reference/agents-and-models.md', agentsAndModelsPage()),
    ...toolsets.map((toolset) => file(`docs/reference/${toolset.name}.md`, toolsetPage(toolset))),
    ...toolsets.map((toolset) => file(`test/contract/snapshots/${toolset.name}.json`, toolsetSnapshot(toolset))),
    file('README.md', withToolsetTable(readFileSync(new URL('README.md', root), 'utf8'))),
  ];
}

export function staleFiles(): readonly ReferenceFile[] {
  return referenceFiles().filter(({ url, text }) => !existsSync(url) || readFileSync(url, 'utf8') !== text);
}

function file(path: string, text: string): ReferenceFile {
  return { path, url: new URL(path, root), text };
}

function withToolsetTable(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md has no ${BEGIN} and ${END}.`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${toolsetTable(toolsets)}\n${readme.slice(end)}`;
}
