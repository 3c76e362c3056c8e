/**
 * Whether every page is checked by axe at every width, and in both modes by all rules. Otherwise the
 * second mode is checked for colours, and widths that only repeat a layout are left out.
 */
export const hasFullMatrices = process.env["FULL_MATRICES"] === "1";
