// The signs of the site that are asked for without a link to them: `/favicon.ico` and the
// one of a home screen.

import { type Node, Renderer } from "@takumi-rs/core";
import { fromJsx } from "@takumi-rs/helpers/jsx";
import type { ReactNode } from "react";
import { Mark } from "../brand/mark.tsx";
import { cardColors } from "../brand/og-card.tsx";
import { writeDraft } from "./site-folder.ts";

const tabSize = 32;
const homeScreenSize = 180;

export async function writeIcons(): Promise<void> {
  const renderer = new Renderer();
  const drawn = async (size: number): Promise<Uint8Array> => {
    const { node } = await fromJsx(iconOf(size) as never);
    return renderer.render(node as Node, { width: size, height: size, format: "png" });
  };
  writeDraft("favicon.ico", icoOf(await drawn(tabSize)));
  writeDraft("apple-touch-icon.png", await drawn(homeScreenSize));
}

/** On the dark ground: such a picture cannot follow the reader's colours. */
function iconOf(size: number): ReactNode {
  const { ground: background, text: color, accent } = cardColors;
  const centred = { display: "flex", alignItems: "center", justifyContent: "center" };
  return (
    <div style={{ ...centred, width: size, height: size, background, color }}>
      <Mark size={Math.round(size * 0.75)} itemColor={accent} />
    </div>
  );
}

/** One picture: the directory of an ICO file, then the PNG as it is. */
function icoOf(png: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(22));
  head.setUint16(2, 1, true);
  head.setUint16(4, 1, true);
  head.setUint8(6, tabSize);
  head.setUint8(7, tabSize);
  head.setUint16(10, 1, true);
  head.setUint16(12, 32, true);
  head.setUint32(14, png.length, true);
  head.setUint32(18, head.byteLength, true);
  return Buffer.concat([new Uint8Array(head.buffer), png]);
}
