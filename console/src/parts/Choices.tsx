interface ChoicesProps<Name extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [name: Name, label: string])[];
  readonly chosen: Name;
  choose(name: Name): void;
}

export function Choices<Name extends string>({ legend, options, chosen, choose }: ChoicesProps<Name>) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(([name, label]) => (
        <button key={name} type="button" class="choice" aria-pressed={name === chosen} onClick={() => choose(name)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}
