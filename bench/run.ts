/** One measurement after the other. What one has found is told as soon as it ends, whatever becomes of the others. */
import { type Measurement, passes } from './measurement.ts';

export type Benchmarks = Readonly<Record<string, () => Promise<readonly Measurement[]>>>;

export interface Verdict {
  readonly pass: boolean;
  /** The names of the measurements that missed their target or broke. */
  readonly failed: readonly string[];
  /** The benchmarks whose turn never came. */
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
    if (unknown !== undefined)
      throw new Error(`There is no benchmark "${unknown}", only ${known.join(', ')}.`);
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

  /** The one that is under way fails, and leaves the others their turn. */
  breaks(error: unknown): void {
    console.error(error);
    const fault = error instanceof Error ? error.message : String(error);
    this.keep({ name: this.current, title: 'It broke.', figures: {}, faults: [fault] });
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
