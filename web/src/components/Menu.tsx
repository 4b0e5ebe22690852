// A button that opens a few more actions.
import { useEffect } from 'preact/hooks';
import { useOpened } from '../lib/opened';
import { Icon, type IconName } from './Icon';

export interface MenuItem {
  label: string;
  icon: IconName;
  run: () => void;
  danger?: boolean;
}

export function Menu({
  label,
  items,
  icon = 'dots',
  class: cls = '',
}: {
  label: string;
  items: MenuItem[];
  icon?: IconName;
  class?: string;
}) {
  const { open, box, button, close } = useOpened();
  useEffect(() => {
    if (open.value) box.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
  }, [open.value]);
  const key = (event: KeyboardEvent) => {
    if (!open.value) return;
    const all = [...box.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') all[(at + 1) % all.length].focus();
    else if (event.key === 'ArrowUp') all[(at - 1 + all.length) % all.length].focus();
    else if (event.key === 'Tab') {
      open.value = false;
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={box} onKeyDown={key}>
      <button
        ref={button}
        type="button"
        class={`btn icon ${cls}`}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <Icon name={icon} />
      </button>
      {open.value && (
        <div class="menu-list" role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.danger ? 'danger' : undefined}
              onClick={() => {
                close();
                item.run();
              }}
            >
              <Icon name={item.icon} />
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
