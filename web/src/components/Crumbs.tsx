// Where a page lies, as links to the pages above it.
export function Crumbs({ items }: { items: { href?: string; label: string }[] }) {
  return (
    <nav class="crumb" aria-label="Breadcrumb">
      {items.map((item, i) => (
        <>
          {i > 0 && <span aria-hidden="true">/</span>}
          {item.href ? (
            <a href={item.href}>
              <bdi>{item.label}</bdi>
            </a>
          ) : (
            <span aria-current="page">
              <bdi>{item.label}</bdi>
            </span>
          )}
        </>
      ))}
    </nav>
  );
}
