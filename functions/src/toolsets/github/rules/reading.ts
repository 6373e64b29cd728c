/** Reading files and searching code. Source: spec/network.md, "GitHub Tools"; docs/semantics.md#network. */
import { MusterError } from '../../../kernel/errors.ts';
import { base64Of, base64Part, textPart, utf8Text } from './content.ts';
import { fileNotFound, found, refNotFound, repositoryNotFound, shown } from './errors.ts';
import {
  filePath,
  lineOf,
  matchedLine,
  plainText,
  refName,
  type SearchFilters,
  searchedOwner,
  searchQuery,
} from './names.ts';
import type { CodeHit, Contents, GitHub, RepositoryName } from './port.ts';

/** The largest file that is read, in bytes, in parts where it is larger than an answer. */
const MAX_FILE_BYTES = 5_242_880;

const SHOWN_ENTRIES = 100;

/** Of so many hits the files are read to find the lines; each is a request to GitHub. */
const FILES_READ = 5;

/** The same for their repositories, which a hit does not describe whole. */
const REPOSITORIES_READ = 5;

const MAX_MATCHES = 10;

/** Of a search, GitHub shows no more. */
const MAX_RESULTS = 1000;

type Encoding = 'utf8' | 'base64';

interface FileContent {
  readonly content: string;
  readonly path: string;
  readonly size: number;
  readonly sha: string;
  /** Base64 where the file is not text, whatever was asked for. */
  readonly encoding: Encoding;
  readonly type: 'file' | 'symlink' | 'submodule';
  /** Where a submodule comes from. */
  readonly url?: string;
  /** Where the next part of the file begins, in bytes; absent where this is the last. */
  readonly nextOffset?: number;
}

interface FileRequest {
  readonly path: string;
  readonly ref: string;
  readonly encoding: Encoding;
  /** Where to begin, in bytes. */
  readonly offset: number;
}

interface SearchRequest {
  readonly query: string;
  readonly filters: SearchFilters;
  readonly sort: 'indexed' | 'best-match';
  readonly page: number;
  readonly perPage: number;
}

interface FoundFile {
  readonly hit: CodeHit;
  readonly stars?: number;
  readonly matches: readonly { readonly line?: number; readonly text: string; readonly highlight: string }[];
}

interface Found {
  readonly files: readonly FoundFile[];
  readonly total: number;
  readonly incomplete: boolean;
}

export class RepositoryReading {
  private readonly gitHub: GitHub;

  constructor(gitHub: GitHub) {
    this.gitHub = gitHub;
  }

  /** @throws MusterError with the reasons of spec/network.md, or IS_DIRECTORY or SIZE_LIMIT_EXCEEDED */
  async readFile(at: RepositoryName, { path, ref, encoding, offset }: FileRequest): Promise<FileContent> {
    const contents = await this.gitHub.contents(at, filePath(path), refName(ref));
    if (contents === undefined) throw await this.missing(at, path, ref);
    switch (contents.type) {
      case 'directory':
        throw isDirectory(path, contents.entries);
      case 'submodule':
        return { ...contents, content: '', size: 0, encoding: 'utf8' };
      case 'symlink': {
        const { target, ...link } = contents;
        const size = new TextEncoder().encode(target).length;
        return { ...link, size, encoding, content: encoding === 'utf8' ? target : base64Of(target) };
      }
      case 'file':
        return this.file(at, contents, encoding, offset);
    }
  }

  async searchCode(request: SearchRequest): Promise<Found> {
    const { query, filters, page, perPage, sort } = request;
    if ((page - 1) * perPage >= MAX_RESULTS) throw beyondResults();
    const owner = searchedOwner(filters);
    const { hits, total, incomplete } = await this.gitHub.searchCode({
      query: searchQuery(query, filters),
      ...(owner !== undefined && { owner }),
      sort,
      page,
      perPage,
    });
    const [contents, stars] = await Promise.all([
      Promise.all(hits.slice(0, FILES_READ).map((hit) => this.textOf(hit))),
      this.starsOf(hits),
    ]);
    const files = hits.map((hit, index) => foundFile(hit, contents[index], stars.get(nameOf(hit))));
    return { files, total, incomplete };
  }

  private async file(
    at: RepositoryName,
    { path, size, sha, base64: inline }: Extract<Contents, { type: 'file' }>,
    encoding: Encoding,
    offset: number,
  ): Promise<FileContent> {
    if (size > MAX_FILE_BYTES) throw tooLarge(path, size);
    const base64 = inline ?? (await found(this.gitHub, at, this.gitHub.blob(at, sha)));
    const text = encoding === 'utf8' ? utf8Text(base64) : undefined;
    const [part, given] =
      text === undefined
        ? [base64Part(base64, offset), 'base64' as const]
        : [textPart(text, offset), 'utf8' as const];
    return { ...part, path, size, sha, encoding: given, type: 'file' };
  }

  /** GitHub's 404 does not tell what is missing. */
  private async missing(at: RepositoryName, path: string, ref: string): Promise<MusterError> {
    const [repository, commit] = await Promise.all([this.gitHub.repository(at), this.gitHub.commit(at, ref)]);
    if (repository === undefined) return repositoryNotFound(at);
    if (commit !== undefined) return fileNotFound(at, path, ref);
    const { defaultBranch } = repository;
    return refNotFound(at, ref, 'ref', defaultBranch === ref ? undefined : defaultBranch);
  }

  /** Only for the numbers of lines: a hit without them is still a hit. */
  private async textOf({ at, sha }: CodeHit): Promise<string | undefined> {
    const base64 = await this.gitHub.blob(at, sha).catch(unlessBroken);
    return base64 === undefined ? undefined : utf8Text(base64);
  }

  private async starsOf(hits: readonly CodeHit[]): Promise<ReadonlyMap<string, number>> {
    const distinct = [...new Map(hits.map((hit) => [nameOf(hit), hit.at])).values()];
    const read = await Promise.all(
      distinct.slice(0, REPOSITORIES_READ).map((at) => this.gitHub.repository(at).catch(unlessBroken)),
    );
    return new Map(
      read.flatMap((repository, index) => {
        const at = distinct[index];
        return repository && at ? [[nameOf({ at }), repository.stars] as const] : [];
      }),
    );
  }
}

function nameOf({ at }: { at: RepositoryName }): string {
  return `${at.owner}/${at.repo}`;
}

function unlessBroken(error: unknown): undefined {
  if (!(error instanceof MusterError)) throw error;
  return undefined;
}

function foundFile(hit: CodeHit, content: string | undefined, stars: number | undefined): FoundFile {
  const matches = hit.fragments.flatMap(({ text, matches }) =>
    matches.map((match) => {
      const line = content === undefined ? undefined : lineOf(content, text, match.start);
      return {
        ...(line !== undefined && { line }),
        text: plainText(matchedLine(text, match.start), 500),
        highlight: plainText(match.text, 200),
      };
    }),
  );
  return { hit, ...(stars !== undefined && { stars }), matches: matches.slice(0, MAX_MATCHES) };
}

function beyondResults(): MusterError {
  return new MusterError('VALIDATION_ERROR', `GitHub shows the first ${MAX_RESULTS} results of a search.`, {
    field: 'page',
    reason: 'PAGE_OUT_OF_RANGE',
    suggestion: 'Narrow the search with filters.',
  });
}

function isDirectory(path: string, entries: readonly string[]): MusterError {
  const more = entries.length > SHOWN_ENTRIES ? `; the first ${SHOWN_ENTRIES} of ${entries.length}` : '';
  return new MusterError('VALIDATION_ERROR', `"${shown(path)}" is a directory.`, {
    field: 'path',
    reason: 'IS_DIRECTORY',
    suggestion: `Name one of its files: data.entries lists what it holds${more}. Directories end with "/".`,
    entries: entries.slice(0, SHOWN_ENTRIES),
  });
}

function tooLarge(path: string, size: number): MusterError {
  return new MusterError(
    'VALIDATION_ERROR',
    `"${shown(path)}" has ${size} bytes; at most ${MAX_FILE_BYTES} can be read.`,
    {
      field: 'path',
      reason: 'SIZE_LIMIT_EXCEEDED',
      suggestion: 'Find the part that you need with github.searchCode, or clone the repository.',
    },
  );
}
