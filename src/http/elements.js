/* Elements. What they hold is put in as text, never as markup. */

export function put(element, text) {
	if (element.textContent !== String(text))
		element.textContent = text;
}

/* As many children as there are items, each made once and filled anew. */
export function putList(parent, items, make, fill) {
	while (parent.children.length > items.length)
		parent.lastElementChild.remove();
	while (parent.children.length < items.length)
		parent.append(make());
	items.forEach((item, i) => fill(parent.children[i], item));
}

export function create(name, attributes = {}, ...children) {
	const element = document.createElement(name);

	Object.assign(element, attributes);
	element.append(...children);
	return element;
}

/*
 * Rows of a table: columns are [title, text of a row, class]. In the row of all, those of the
 * class "adds" are filled.
 */
export function putTable(table, columns, rows) {
	const cell = ([, , style = ""], i) =>
		i === 0 ? create("th", { scope: "row" }) : create("td", { className: style });

	if (table.tHead.rows.length === 0)
		table.tHead.append(create("tr", {}, ...columns.map(([title, , style = ""]) =>
			create("th", { scope: "col", className: style, textContent: title }))));
	const make = () => create("tr", {}, ...columns.map(cell));

	putList(table.tBodies[0], rows, make, (line, row) => {
		line.className = row.isAll ? "all" : "";
		columns.forEach(([, text, style], i) => {
			const isEmpty = row.isAll && i > 0 && style !== "adds";

			put(line.cells[i], isEmpty ? "" : text(row));
		});
	});
}

export function createSvg(name, attributes, text) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	if (text !== undefined)
		element.textContent = text;
	return element;
}
