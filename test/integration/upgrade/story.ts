/** Scenario: work in four steps that one version hands over to the other in between. */
import type { Agent, Stage } from './stage.ts';
import type { Answer, Version } from './version.ts';

/** A scenario's workspace and agents. */
export interface Cast {
  readonly workspace: string;
  readonly lead: Agent;
  readonly worker: Agent;
  readonly other: Agent;
}

/** Version and workspace in which a step runs. */
export class Place {
  readonly version: Version;
  readonly stage: Stage;
  private readonly workspace: string;

  constructor(version: Version, stage: Stage, workspace: string) {
    this.version = version;
    this.stage = stage;
    this.workspace = workspace;
  }

  /** Calls a tool, and delivers the resulting events. */
  async call(who: Agent, tool: string, args: object = {}): Promise<Answer> {
    const answer = await this.version.call(who.credential, this.workspace, tool, args);
    await this.stage.deliveries.settle();
    return answer;
  }

  /** Calls a tool that waits, without delivering events. */
  ask(who: Agent, tool: string, args: object = {}): Promise<Answer> {
    return this.version.call(who.credential, this.workspace, tool, args);
  }
}

export type Step = (at: Place) => Promise<void>;

export interface Story {
  readonly name: string;
  /** Default: a dedicated workspace. */
  readonly workspace?: string;
  readonly steps: (cast: Cast) => readonly [Step, Step, Step, Step];
}

export type Phase = 'before' | 'beside' | 'after' | 'back';

interface Scene {
  readonly phase: Phase;
  readonly by: 'old' | 'new';
}

/** Version and time of each step. */
export const COURSES = {
  upgrade: [scene('before', 'old'), scene('beside', 'new'), scene('beside', 'old'), scene('after', 'new')],
  'roll back': [scene('beside', 'new'), scene('after', 'new'), scene('back', 'old'), scene('back', 'old')],
} as const satisfies Readonly<Record<string, readonly [Scene, Scene, Scene, Scene]>>;

function scene(phase: Phase, by: Scene['by']): Scene {
  return { phase, by };
}

/** A scenario in progress. */
export class Performance {
  readonly title: string;
  private readonly steps: readonly Step[];
  private readonly scenes: readonly Scene[];
  readonly cast: Cast;
  private done = 0;

  constructor(title: string, story: Story, scenes: readonly Scene[], cast: Cast) {
    this.title = title;
    this.steps = story.steps(cast);
    this.scenes = scenes;
    this.cast = cast;
  }

  /** Runs the steps of a phase, each at the version of its scene. */
  async perform(
    phase: Phase,
    stage: Stage,
    versions: Readonly<Partial<Record<Scene['by'], Version>>>,
  ): Promise<void> {
    for (; this.scenes[this.done]?.phase === phase; this.done += 1) {
      const version = versions[this.scenes[this.done]?.by ?? 'new'];
      if (version === undefined) throw new Error(`${this.title}: no version serves in phase ${phase}`);
      try {
        await this.steps[this.done]?.(new Place(version, stage, this.cast.workspace));
      } catch (error) {
        throw new Error(`${this.title}, step ${this.done + 1} by ${version.name}`, { cause: error });
      }
    }
  }

  get isOver(): boolean {
    return this.done === this.steps.length;
  }
}
