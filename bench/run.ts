/** Runs benchmarks sequentially, and reports each result as soon as it is complete. */
import { isOnTarget, type Measurement } from './measurement.ts';

export type Benchmarks = Readonly<Record<string, () => Promise<readonly Measurement[]>>>;

export interface Verdict {
  /** Whether everything was measured without a fault and without a regression. A missed target is not a failure. */
  readonly pass: boolean;
  /** Names of measurements with faults, and of benchmarks that failed with an error. */
  readonly failed: readonly string[];
  /** Names of measurements that are worse than the stored figures. */
  readonly worse: readonly string[];
  /** Names of measurements that missed a target. */
  readonly missed: readonly string[];
  /** Names of benchmarks that did not run. */
  readonly left: readonly string[];
}

export interface RunOptions {
  readonly benchmarks: Benchmarks;
  readonly wanted: readonly string[];
  readonly begins: (name: string) => void;
  /** Returns the values of a measurement that are worse than the stored figures. */
  readonly regressions: (measurement: Measurement) => readonly string[];
  readonly measured: (measurement: Compared) => void;
}

export interface Compared extends Measurement {
  readonly worse: readonly string[];
}

export class Run {
  readonly measurements: Compared[] = [];
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
    const namesOf = (isIncluded: (measurement: Compared) => boolean): readonly string[] => [
      ...new Set(this.measurements.filter(isIncluded).map(({ name }) => name)),
    ];
    const failed = namesOf(({ faults = [] }) => faults.length > 0);
    const worse = namesOf((measurement) => measurement.worse.length > 0);
    const missed = namesOf((measurement) => !isOnTarget(measurement));
    const left = [...new Set(this.left)];
    return { pass: [failed, worse, left].every((names) => names.length === 0), failed, worse, missed, left };
  }

  private keep(measurement: Measurement): void {
    const { figures, figureTargets = {}, faults = [] } = measurement;
    const lacking = Object.keys(figureTargets).filter((what) => typeof (figures[what] ?? '') === 'string');
    const all = [...faults, ...lacking.map((what) => `The figure "${what}" has a target, but no value.`)];
    const compared = { ...measurement, faults: all, worse: this.options.regressions(measurement) };
    this.measurements.push(compared);
    this.options.measured(compared);
  }
}
