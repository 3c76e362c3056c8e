// Every table of the console: its columns are data, and heading, rows and placeholders follow them.

import { type MouseEvent, memo, type ReactNode, type RefObject } from "react";

export interface Column<Row> {
  readonly title: string;
  /** Replaces the title in the heading. */
  readonly heading?: ReactNode;
  readonly meaning?: string | undefined;
  readonly order?: "ascending" | "descending" | undefined;
  /** For the heading and every cell. */
  readonly className?: string;
  /** Classes that depend on the row. */
  readonly look?: (row: Row) => string | false | undefined;
  readonly hint?: (row: Row) => string | undefined;
  /** Its cells are the headings of their rows. */
  readonly isHeading?: boolean;
  readonly cell: (row: Row, index: number) => ReactNode;
}

/** The rows in the window, in a list that is longer. */
interface Window {
  readonly body: RefObject<HTMLTableSectionElement | null>;
  readonly indexes: readonly number[];
  /** Heights of the rows that are not drawn. */
  readonly before: number;
  readonly after: number;
}

interface TableProps<Row> {
  readonly label: string;
  readonly className: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string | number;
  readonly hasHiddenHead?: boolean;
  /** Placeholders below the rows, while the rows are awaited. */
  readonly ghostCount?: number;
  readonly window?: Window;
  /** Classes of a row; `cur`: the keyboard is at it. */
  readonly rowLook?: (row: Row) => string;
  readonly onRow?: (row: Row, event: MouseEvent) => void;
}

export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { label, className, columns, rows, keyOf, hasHiddenHead = false } = props;
  const { ghostCount = 0, window, rowLook, onRow } = props;
  const indexes = window?.indexes ?? rows.map((_, index) => index);
  return (
    <table
      className={className}
      aria-label={label}
      aria-rowcount={window ? rows.length + 1 : undefined}
    >
      <thead className={hasHiddenHead ? "vh" : undefined}>
        <tr>
          {columns.map(({ title, heading = title, meaning, order, className: name }) => (
            <th key={title} scope="col" className={name} title={meaning} aria-sort={order}>
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={window?.body}>
        <Space height={window?.before} />
        {indexes.map((index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const look = rowLook?.(row) ?? "";
          const position = window && index + 2;
          return (
            <DrawnRow key={keyOf(row, index)} {...{ columns, row, index, look, position, onRow }} />
          );
        })}
        {Array.from({ length: ghostCount }, (_, at) => (
          <tr key={at} className="ghost">
            {columns.map(({ title, className: name }) => (
              <td key={title} className={name}>
                <i />
              </td>
            ))}
          </tr>
        ))}
        <Space height={window?.after} />
      </tbody>
    </table>
  );
}

interface RowProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly row: Row;
  readonly index: number;
  readonly look: string;
  readonly position: number | undefined;
  readonly onRow: ((row: Row, event: MouseEvent) => void) | undefined;
}

function TableRow<Row>({ columns, row, index, look, position, onRow }: RowProps<Row>): ReactNode {
  return (
    // Keyboards use the link in the row.
    <tr
      aria-rowindex={position}
      aria-current={/\bcur\b/.test(look) || undefined}
      className={look || undefined}
      onClick={onRow && ((event) => onRow(row, event))}
    >
      {columns.map(({ title, className, look: lookOf, hint, isHeading, cell }) => {
        const Cell = isHeading ? "th" : "td";
        const names = [className, lookOf?.(row)].filter(Boolean).join(" ");
        return (
          <Cell
            key={title}
            scope={isHeading ? "row" : undefined}
            className={names || undefined}
            title={hint?.(row)}
            data-l={title}
          >
            {cell(row, index)}
          </Cell>
        );
      })}
    </tr>
  );
}

/** A row is drawn again only when it has changed: a poll changes few of them. */
const DrawnRow = memo(TableRow) as typeof TableRow;

/** One cell wide: a column that is hidden in a narrow window has to stay hidden. */
function Space({ height = 0 }: { readonly height: number | undefined }): ReactNode {
  if (height <= 0) return null;
  return (
    <tr className="drop">
      <td style={{ height }} />
    </tr>
  );
}

interface Selecting<Row> {
  readonly allLabel: string;
  readonly isAll: boolean;
  readonly onAll: () => void;
  /** For the label of its box. */
  readonly nameOf: (row: Row) => string;
  readonly isChosen: (row: Row) => boolean;
  readonly isDisabled?: (row: Row) => boolean;
  readonly onChoose: (row: Row) => void;
}

const hidden = <span className="vh">Selected</span>;

/** The column of boxes; without them it keeps its place. */
export function selectColumn<Row>(selecting: Selecting<Row> | null): Column<Row> {
  if (selecting === null)
    return { title: "Selected", className: "c-x", heading: hidden, cell: () => "" };
  const { allLabel, isAll, onAll, nameOf, isChosen, isDisabled, onChoose } = selecting;
  return {
    title: "Selected",
    className: "c-x",
    heading: <input type="checkbox" aria-label={allLabel} checked={isAll} onChange={onAll} />,
    cell: (row) => (
      <input
        type="checkbox"
        aria-label={`Select ${nameOf(row)}`}
        disabled={isDisabled?.(row)}
        checked={isChosen(row)}
        onChange={() => onChoose(row)}
      />
    ),
  };
}
