/** The MCP project's two conformance suites, started as command line programs. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Suite {
  readonly name: string;
  /** Path of the suite's program below test/clients/node_modules. */
  readonly program: string;
  /** Options that select the scenarios of one protocol revision. */
  readonly selection: readonly string[];
  /** Options that select the protocol revision for the run of a single scenario. */
  readonly revision: readonly string[];
  /** Name of the file of expected failures, in this folder. */
  readonly expected: string;
}

export const SUITES: readonly Suite[] = [
  {
    name: '0.1.16',
    program: '@modelcontextprotocol/conformance/dist/index.js',
    selection: [],
    revision: [],
    expected: 'expected-failures-2025-11-25.yml',
  },
  {
    name: '0.2 alpha for 2026-07-28',
    program: 'conformance-next/dist/index.js',
    selection: ['--requirements', '2026-07-28'],
    revision: ['--spec-version', '2026-07-28'],
    expected: 'expected-failures-2026-07-28.yml',
  },
];

export interface Run {
  readonly code: number | null;
  readonly output: string;
}

export function runSuite(suite: Suite, url: string, options: readonly string[]): Promise<Run> {
  const program = fileURLToPath(new URL(`../../clients/node_modules/${suite.program}`, import.meta.url));
  const child = spawn(process.execPath, [program, 'server', '--url', url, ...options]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

export const expectedFailures = ({ expected }: Suite): string => fileURLToPath(new URL(expected, import.meta.url));

/** Returns the end of the output, which contains the suite's summary. */
export const summary = (output: string): string => output.slice(-6000);
