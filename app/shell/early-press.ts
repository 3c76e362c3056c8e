// A button that was pressed before the page came to life is pressed again once it has.

export function replayEarlyPress(): void {
  const { earlyPress } = window as { earlyPress?: HTMLElement };
  if (earlyPress?.isConnected === true) earlyPress.click();
}
