/** A scenario is work in four steps. Some steps call the release, the others call the current version. */
import type { Agent, UpgradeFixture } from './fixture.ts';
import type { Answer, Version } from './version.ts';

/** The workspace and the agents of one run of a scenario. */
export interface Cast {
  readonly workspace: string;
  readonly lead: Agent;
  readonly worker: Agent;
  readonly other: Agent;
}

/** The version and the workspace to which the calls of a step go. */
export class Place {
  readonly version: Version;
  readonly stageFixture: UpgradeFixture;
  private readonly workspace: string;

  constructor(version: Version, stageFixture: UpgradeFixture, workspace: string) {
    this.version = version;
    this.stageFixture = stageFixture;
    this.workspace = workspace;
  }

  /** Calls a tool, and delivers the events that the call causes. */
  async call(who: Agent, tool: string, args: object = {}): Promise<Answer> {
    const answer = await this.version.call(who.credential, this.workspace, tool, args);
    await this.stageFixture.deliveries.settle();
    return answer;
  }

  /** Calls a tool without delivering the events that the call causes. */
  ask(who: Agent, tool: string, args: object = {}): Promise<Answer> {
    return this.version.call(who.credential, this.workspace, tool, args);
  }
}

export type Step = (at: Place) => Promise<void>;

export interface Scenario {
  readonly name: string;
  /** Workspace of the scenario. By default, each run of the scenario has a separate one. */
  readonly workspace?: string;
  readonly steps: (cast: Cast) => readonly [Step, Step, Step, Step];
}

export type Phase = 'before' | 'beside' | 'after' | 'back';

interface ScenarioStep {
  readonly phase: Phase;
  readonly by: 'old' | 'new';
}

/** The courses of a scenario: upgrade and rollback. Each states the phase and the version of every step. */
export const COURSES = {
  upgrade: [
    responseFixture('before', 'old'),
    responseFixture('beside', 'new'),
    responseFixture('beside', 'old'),
    responseFixture('after', 'new'),
  ],
  'roll back': [
    responseFixture('beside', 'new'),
    responseFixture('after', 'new'),
    responseFixture('back', 'old'),
    responseFixture('back', 'old'),
  ],
} as const satisfies Readonly<Record<string, readonly [ScenarioStep, ScenarioStep, ScenarioStep, ScenarioStep]>>;

function responseFixture(phase: Phase, by: ScenarioStep['by']): ScenarioStep {
  return { phase, by };
}

/** One run of a scenario, and the number of its finished steps. */
export class ScenarioRun {
  readonly title: string;
  private readonly steps: readonly Step[];
  private readonly scenes: readonly ScenarioStep[];
  readonly cast: Cast;
  private done = 0;

  constructor(title: string, scenario: Scenario, scenes: readonly ScenarioStep[], cast: Cast) {
    this.title = title;
    this.steps = scenario.steps(cast);
    this.scenes = scenes;
    this.cast = cast;
  }

  /** Runs the steps of a phase. The course determines which version each step calls. */
  async perform(
    phase: Phase,
    stageFixture: UpgradeFixture,
    versions: Readonly<Partial<Record<ScenarioStep['by'], Version>>>,
  ): Promise<void> {
    for (; this.scenes[this.done]?.phase === phase; this.done += 1) {
      const version = versions[this.scenes[this.done]?.by ?? 'new'];
      if (version === undefined) throw new Error(`${this.title}: no version to call in phase ${phase}`);
      try {
        await this.steps[this.done]?.(new Place(version, stageFixture, this.cast.workspace));
      } catch (error) {
        throw new Error(`${this.title}, step ${this.done + 1} by ${version.name}`, { cause: error });
      }
    }
  }

  get isOver(): boolean {
    return this.done === this.steps.length;
  }
}
