/** Runs benchmarks sequentially, and reports each result as soon as it is complete. */
import { type Measurement, passes } from './measurement.ts';

export type Benchmarks = Readonly<Record<string, () => Promise<readonly Measurement[]>>>;

export interface Verdict {
  readonly pass: boolean;
  /** Names of measurements that missed their target, and of benchmarks that failed with an error. */
  readonly failed: readonly string[];
  /** Names of benchmarks that did not run. */
  readonly left: readonly string[];
}

export interface RunOptions {
  readonly benchmarks: Benchmarks;
  readonly wanted: readonly string[];
  readonly begins: (name: string) => void;
  readonly measured: (measurement: Measurement) => void;
}

export class Run {
  readonly measurements: Measurement[] = [];
  private readonly options: RunOptions;
  private readonly left: string[];
  private current = 'bench';

  constructor(options: RunOptions) {
    const known = Object.keys(options.benchmarks);
    const unknown = options.wanted.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new Error(`Unknown benchmark "${unknown}". Use ${known.join(', ')}.`);
    this.options = options;
    this.left = [...options.wanted];
  }

  async toEnd(): Promise<void> {
    for (let name = this.left.shift(); name !== undefined; name = this.left.shift()) {
      this.current = name;
      this.options.begins(name);
      try {
        for (const measurement of (await this.options.benchmarks[name]?.()) ?? []) this.keep(measurement);
      } catch (error) {
        this.breaks(error);
      }
    }
  }

  /** Records that the current benchmark failed, and that the remaining benchmarks did not run. */
  breaks(error: unknown): void {
    console.error(error);
    const fault = error instanceof Error ? error.message : String(error);
    this.keep({ name: this.current, title: 'The benchmark failed with an error.', figures: {}, faults: [fault] });
  }

  verdict(): Verdict {
    const failed = this.measurements.filter((measurement) => !passes(measurement)).map(({ name }) => name);
    return { pass: failed.length === 0 && this.left.length === 0, failed, left: [...this.left] };
  }

  private keep(measurement: Measurement): void {
    this.measurements.push(measurement);
    this.options.measured(measurement);
  }
}
