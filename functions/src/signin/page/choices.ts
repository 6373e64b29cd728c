/** Form in which the person chooses the access of the client. */
import type { Offer } from '../rules/choices.ts';
import { type Embedded, fill } from './embedded.ts';
import type { Choices } from './server.ts';
import { element, type View } from './view.ts';

type Texts = Embedded['texts'];

export class ChoicesForm {
  private readonly view: View;
  private readonly texts: Texts;
  private readonly agentName = element('agent-name', HTMLInputElement);
  private readonly role = element('role', HTMLSelectElement);
  private readonly workspace = element('workspace', HTMLSelectElement);
  private readonly readonly = element('readonly', HTMLInputElement);
  private readonly allow = element('allow', HTMLButtonElement);
  private toolsets: readonly HTMLInputElement[] = [];

  constructor(view: View, texts: Texts) {
    this.view = view;
    this.texts = texts;
    element('toolsets', HTMLElement).addEventListener('change', () => this.updateAllow());
    this.agentName.addEventListener('input', () => this.agentName.removeAttribute('aria-invalid'));
  }

  fill(offer: Offer): void {
    const { person, agentName, role, roles, workspaces, toolsets, proposed, readonly } = offer;
    const { signedInAs, allWorkspaces } = this.texts;
    const known = person.email === undefined || person.email === person.name;
    const shown = known ? person.name : `${person.name} (${person.email})`;
    element('person', HTMLElement).textContent = fill(signedInAs, { person: shown });
    this.agentName.value = agentName;
    this.agentName.removeAttribute('aria-invalid');
    this.role.replaceChildren(
      ...roles.map((one) => new Option(this.texts.roles[one], one, one === role, one === role)),
    );
    this.workspace.replaceChildren(new Option(allWorkspaces, ''), ...workspaces.map((one) => new Option(one, one)));
    this.readonly.checked = readonly.value || readonly.fixed;
    this.readonly.disabled = readonly.fixed;
    const boxes = toolsets.map((name) => toolsetBox(name, proposed.includes(name), this.texts.toolsets));
    element('toolsets', HTMLElement).replaceChildren(...boxes.map(({ row }) => row));
    this.toolsets = boxes.map(({ box }) => box);
    this.updateAllow();
  }

  chosen(): Choices {
    return {
      agentName: this.agentName.value.trim(),
      role: this.role.value,
      // The first option stands for all workspaces. A workspace may have the same name as that option.
      workspace: this.workspace.selectedIndex === 0 ? null : this.workspace.value,
      toolsets: this.toolsets.filter(({ checked }) => checked).map(({ value }) => value),
      readonly: this.readonly.checked,
    };
  }

  /** Marks the agent's name as invalid and moves the focus to it. */
  markName(): void {
    this.agentName.setAttribute('aria-invalid', 'true');
    this.view.focus(this.agentName);
    this.agentName.select();
  }

  private updateAllow(): void {
    const isNothing = !this.toolsets.some(({ checked }) => checked);
    this.view.setBlocked(this.allow, isNothing);
    this.view.showMessage(isNothing ? this.texts.nothingTicked : '');
  }
}

/** Creates a checkbox for a toolset. */
function toolsetBox(name: string, isProposed: boolean, texts: Readonly<Record<string, ToolsetText>>) {
  const { title = name, hint = '' } = texts[name] ?? {};
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.value = name;
  box.checked = isProposed;
  const words = created(
    'span',
    '',
    created('b', '', title),
    document.createElement('br'),
    created('span', 'hint', hint),
  );
  return { row: created('label', 'check', box, words), box };
}

type ToolsetText = Texts['toolsets'][keyof Texts['toolsets']];

function created(tag: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...children);
  return made;
}
