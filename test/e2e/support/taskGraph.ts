export interface PlannedTask {
  readonly description: string;
  readonly priority: number;
  /** Indexes of the task's dependencies in the graph. All are smaller than the index of the task. */
  readonly dependsOn: readonly number[];
}

/** Returns a graph in layers. Each task depends on at most three tasks of the previous layer. */
export function layeredGraph(layers: number, width: number): readonly PlannedTask[] {
  return Array.from({ length: layers * width }, (_, place) => {
    const before = Math.floor(place / width - 1) * width;
    const column = place % width;
    const columns = [column, (column * 7 + 3) % width, (column * 3 + 11) % width].slice(0, 1 + (place % 3));
    return {
      description: `Task ${place}`,
      priority: 1 + ((place * 5) % 10),
      dependsOn: before < 0 ? [] : [...new Set(columns)].map((other) => before + other),
    };
  });
}
