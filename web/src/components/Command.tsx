// A command as one would type it. A line breaks between its words, not inside --batch-size.
export function Command({ text }: { text: string }) {
  return (
    <>
      {text.split(' ').map((word, i) => (
        <>
          {i > 0 && ' '}
          <span class="shell-word">{word}</span>
        </>
      ))}
    </>
  );
}
