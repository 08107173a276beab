'use strict';

/**
 * Builds the page from the report's data. Every text goes in as text: nothing here parses markup,
 * and the page's policy would stop it if it did.
 */
(() => {
  const parse = id => JSON.parse(document.getElementById(id).textContent);
  const data = parse('data');
  const texts = parse('texts');
  const PAGE_SIZES = [25, 100, 1000];
  const MOST_OPTIONS = 300;
  /** Some ten sheets; on more nobody looks for a row. */
  const MOST_PRINTED = 500;
  /** Of A4 and Letter, what margins and frames leave. */
  const PAPER_WIDTH = 640;
  const SHORT = 24;
  const LONG = 48;
  const STATES = {
    OK: 'good', PASS: 'good', SAME: 'good', FASTER: 'good', NOTE: 'open', INFO: 'open',
    FAILED: 'bad', FAIL: 'bad', SLOWER: 'bad', MISSING: 'bad', ERROR: 'bad', TIMEOUT: 'bad',
  };
  const state = {language: stored('language') ?? preferred(), theme: stored('theme') ?? 'auto', filter: '', selected: -1};
  const charts = [];
  const tables = [];
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let samples = null;
  let words = [];
  let printing = false;
  let viewer = null;

  function preferred() {
    return (navigator.language || 'en').toLowerCase().startsWith('zh') ? 'zh' : 'en';
  }

  /** A choice kept between visits; a browser may refuse to keep any, for a file above all. */
  function stored(name) {
    try {
      return localStorage.getItem('musabench.' + name);
    } catch (e) {
      return null;
    }
  }

  function store(name, value) {
    try {
      localStorage.setItem('musabench.' + name, value);
    } catch (e) {
      // Chosen again next time.
    }
  }

  // ---- texts and numbers

  const PLACE = /\{(\w+)\}/g;

  function t(key, args) {
    const form = texts[state.language][key] ?? texts.en[key] ?? key;
    return args ? form.replace(PLACE, (all, name) => Object.hasOwn(args, name) ? text(args[name]) : all) : form;
  }

  /** A message of the data: a text as it is, or a key with its arguments. */
  function text(message) {
    return message && typeof message === 'object' ? t(message.key, message.args) : String(message ?? '');
  }

  /** The same for an element: what others wrote in English is marked so in a Chinese page. */
  function spoken(message) {
    if (state.language === 'en') {
      return [text(message)];
    }
    if (!message || typeof message !== 'object') {
      const content = text(message);
      return [/[A-Za-z]{2} [a-z]{2}/.test(content) ? make('span', {lang: 'en'}, content) : content];
    }
    const parts = t(message.key).split(PLACE); // What it captures comes at the odd places.
    return parts.flatMap((part, i) => (i % 2 === 0 ? [part] : spoken(message.args?.[part] ?? `{${part}}`)));
  }

  /** Three significant digits, more before the point if there are more. */
  function digits(v, short) {
    if (v === 0) {
      return '0';
    }
    const size = Math.floor(Math.log10(Math.abs(v)));
    if (size >= 6 || size < -4) {
      return short ? Number(v.toPrecision(3)).toExponential() : v.toExponential(2);
    }
    const fixed = v.toFixed(Math.max(0, Math.min(8, 2 - size)));
    return short && fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
  }

  function time(us, short) {
    const size = Math.abs(us);
    if (size === 0) {
      return '0 µs';
    }
    const [factor, unit] =
      size < 0.9995 ? [1e3, 'ns'] : size < 999.5 ? [1, 'µs'] : size < 999500 ? [1e-3, 'ms'] : [1e-6, 's'];
    return digits(us * factor, short) + ' ' + unit;
  }

  /** A value as people read it. On an axis, without the zeros behind the point. */
  function value(v, type, short) {
    if (v === null || v === undefined) {
      return '';
    }
    if (typeof v !== 'number') {
      return text(v);
    }
    switch (type) {
      case 'TIME_US':
        return time(v, short);
      case 'PERCENT':
        return (short ? digits(v, true) : v.toFixed(1)) + ' %';
      case 'CHANGE':
        return signed(v, short ? digits(Math.abs(v), true) : Math.abs(v).toFixed(1)) + ' %';
      case 'RATIO':
        return '×' + digits(v, short);
      case 'COUNT':
        return String(Math.round(v * 100) / 100);
      default:
        return digits(v, short);
    }
  }

  /** What rounds to nothing has no sign. */
  function signed(v, size) {
    return Number(size) === 0 ? size : (v > 0 ? '+' : '−') + size;
  }

  /** What a CSV's column is called, its unit included. */
  function unit(type) {
    return {TIME_US: '_us', PERCENT: '_percent', CHANGE: '_percent'}[type] ?? '';
  }

  function cell(v) {
    const content = v === null || v === undefined ? '' : typeof v === 'object' ? t2('en', v) : String(v);
    // A cell that a spreadsheet would take for a formula is none.
    const safe = typeof v === 'string' && /^[=+\-@\t\r]/.test(content) ? "'" + content : content;
    return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  }

  /** A message in a given language: files are in English whatever the page is in. */
  function t2(language, message) {
    const kept = state.language;
    state.language = language;
    const result = text(message);
    state.language = kept;
    return result;
  }

  const say = {text, value};

  // ---- elements

  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, v] of Object.entries(attributes ?? {})) {
      if (key.startsWith('on')) {
        element.addEventListener(key.slice(2), v);
      } else if (v !== false && v !== null && v !== undefined) {
        element.setAttribute(key, v === true ? '' : v);
      }
    }
    element.append(...children.filter(c => c !== null && c !== undefined));
    return element;
  }

  function announce(message) {
    document.getElementById('live').textContent = message;
  }

  function download(name, content) {
    return make('a', {
      href: '#',
      download: name + '.csv',
      class: 'csv no-print',
      onclick: event => {
        const link = event.currentTarget;
        URL.revokeObjectURL(link.dataset.url ?? '');
        link.dataset.url = URL.createObjectURL(new Blob(['\ufeff' + content()], {type: 'text/csv;charset=utf-8'}));
        link.href = link.dataset.url;
      },
    }, t('ui.csv'));
  }

  function copyButton(command, name) {
    return make('button', {
      type: 'button',
      title: command,
      'aria-label': t('ui.copy_of', {name}),
      onclick: async event => {
        const button = event.currentTarget;
        let done = true;
        try {
          await navigator.clipboard.writeText(command);
        } catch (e) {
          done = copyBySelection(command);
        }
        button.textContent = t(done ? 'ui.copied' : 'ui.not_copied');
        announce(t(done ? 'ui.copied' : 'ui.not_copied') + ': ' + command);
      },
    }, t('ui.copy'));
  }

  /** Where a browser keeps its clipboard from files. */
  function copyBySelection(command) {
    const area = make('textarea', {class: 'only-read', 'aria-hidden': 'true'});
    area.value = command;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }

  function caseOf(index) {
    return index >= 0 ? data.cases[index] : null;
  }

  function kept(index) {
    const of = caseOf(index);
    return words.length === 0 || !of || matches(of.id + ' ' + data.runs[of.run].letter + ' ' + data.runs[of.run].name);
  }

  function matches(content) {
    const lower = content.toLowerCase();
    return words.every(w => lower.includes(w));
  }

  // ---- tables

  /**
   * A table in pages, sorted by any column. `spec.rows` may be a function: then the rows are made
   * when the table is first shown.
   */
  class TableView {
    constructor(spec, parent) {
      this.spec = spec;
      this.page = 0;
      this.size = PAGE_SIZES[0];
      this.sort = -1;
      this.down = false;
      this.count = make('span', {});
      this.cut = make('p', {class: 'cut'});
      this.pages = make('span', {class: 'pages'});
      // Where no row has a case, all have one command, and it stands above them.
      this.own = spec.cases.some(i => i >= 0);
      const command = spec.command || data.command;
      const copy = !this.own && command ? copyButton(command, text(spec.title)) : null;
      this.scroll = make('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': text(spec.title)});
      this.element = make('div', {class: 'table', 'data-table': spec.id},
        make('div', {class: 'tools'}, download(spec.id, () => this.csv()), this.count, this.pages, copy),
        this.cut,
        this.scroll);
      parent.append(this.element);
      this.texts = null;
      this.fill();
    }

    /** What a row is searched by. */
    searched(i) {
      this.texts ??= [];
      return (this.texts[i] ??= this.spec.rows[i].map(v => (typeof v === 'number' ? '' : text(v))).join(' ')
        + ' ' + (caseOf(this.spec.cases[i])?.id ?? ''));
    }

    order() {
      const rows = this.spec.rows;
      let shown = rows.map((r, i) => i);
      if (words.length) {
        shown = shown.filter(i => matches(this.searched(i)));
      }
      if (this.sort >= 0) {
        const key = i => rows[i][this.sort];
        const sign = this.down ? -1 : 1;
        shown.sort((a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === null || y === null) {
            return (x === null) - (y === null); // What is not known comes last, either way.
          }
          return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : text(x).localeCompare(text(y)));
        });
      }
      return shown;
    }

    command(i) {
      return caseOf(this.spec.cases[i])?.command || this.spec.command || data.command || '';
    }

    csv() {
      const names = this.spec.columns.map(c => c.name + unit(c.type));
      const named = names.includes('case');
      const head = [...names, ...(named ? [] : ['case']), 'command'];
      const lines = this.spec.rows.map((row, i) =>
        [...row, ...(named ? [] : [caseOf(this.spec.cases[i])?.id ?? '']), this.command(i)].map(cell).join(','));
      return [head.map(cell).join(','), ...lines].join('\r\n') + '\r\n';
    }

    fill() {
      const order = this.order();
      const all = this.spec.rows.length;
      const pages = Math.max(1, Math.ceil(order.length / this.size));
      this.page = Math.min(this.page, pages - 1);
      const from = printing ? 0 : this.page * this.size;
      const shown = order.slice(from, from + (printing ? MOST_PRINTED : this.size));
      this.cut.textContent = printing && shown.length < order.length
        ? t('ui.printed', {shown: shown.length, count: order.length, file: this.spec.id + '.csv'})
        : '';
      this.count.textContent = order.length === 0
        ? t('ui.no_rows', {all})
        : t('ui.rows', {from: from + 1, to: from + shown.length, count: order.length, all});
      this.fillPages(order.length, pages);
      const table = make('table', {}, make('caption', {class: 'only-read'}, text(this.spec.title)));
      table.append(this.head());
      const body = make('tbody', {});
      shown.forEach(i => body.append(this.row(i)));
      table.append(body);
      this.scroll.replaceChildren(table);
    }

    /** For paper and back; a table that fits is the same on both, one in a closed part not printed. */
    printed() {
      if (this.spec.rows.length > PAGE_SIZES[0] && !this.element.closest('.no-print')) {
        this.fill();
      }
    }

    fillPages(count, pages) {
      this.pages.replaceChildren();
      if (count <= PAGE_SIZES[0]) {
        return;
      }
      const to = (key, page) => make('button', {
        type: 'button',
        disabled: page < 0 || page >= pages,
        onclick: () => {
          this.page = page;
          this.fill();
          announce(this.count.textContent);
        },
      }, t(key));
      const sizes = make('select', {
        'aria-label': t('ui.page_size'),
        onchange: event => {
          this.size = Number(event.target.value);
          this.page = 0;
          this.fill();
        },
      });
      PAGE_SIZES.forEach(n => sizes.append(make('option', {value: n, selected: n === this.size}, t('ui.a_page', {count: n}))));
      this.pages.append(to('ui.previous', this.page - 1), ' ', to('ui.next', this.page + 1), ' ', sizes);
    }

    head() {
      const row = make('tr', {});
      this.spec.columns.forEach((column, i) => {
        const sorted = this.sort === i ? (this.down ? 'descending' : 'ascending') : 'none';
        const arrow = this.sort === i ? (this.down ? ' ↓' : ' ↑') : '';
        row.append(make('th', {scope: 'col', 'aria-sort': sorted, class: numeric(column.type) ? 'number' : ''},
          make('button', {
            type: 'button',
            'data-column': column.name,
            onclick: () => {
              this.down = this.sort === i ? !this.down : false;
              this.sort = i;
              this.page = 0;
              this.fill();
              this.scroll.querySelector(`[data-column="${CSS.escape(column.name)}"]`).focus();
            },
          }, text(column.heading) + arrow)));
      });
      if (this.own) {
        row.append(make('th', {scope: 'col', class: 'command'}, t('ui.reproduce')));
      }
      return make('thead', {}, row);
    }

    row(i) {
      const index = this.spec.cases[i];
      const row = make('tr', {});
      this.spec.columns.forEach((column, c) => row.append(shownCell(this.spec.rows[i][c], column.type)));
      if (!this.own) {
        return row;
      }
      const last = make('td', {class: 'command'});
      const command = this.command(i);
      if (command) {
        last.append(copyButton(command, caseOf(index)?.id ?? text(this.spec.title)));
      }
      if (index >= 0 && hasSamples(index)) {
        last.append(' ', make('button', {
          type: 'button',
          'aria-label': t('ui.samples_of', {name: caseOf(index).id}),
          onclick: () => viewer?.select(index, true),
        }, t('ui.samples')));
      }
      row.append(last);
      return row;
    }
  }

  function numeric(type) {
    return ['COUNT', 'NUMBER', 'TIME_US', 'PERCENT', 'CHANGE', 'RATIO'].includes(type);
  }

  function shownCell(v, type) {
    if (numeric(type)) {
      return make('td', {class: 'number'}, typeof v === 'number' ? value(v, type) : text(v));
    }
    if (type === 'KIND' && v) {
      return make('td', {}, kind(v));
    }
    if (type === 'STATE' && v) {
      const cellOf = make('td', {});
      String(v).split(' ').forEach(word =>
        cellOf.append(make('span', {class: 'state ' + (STATES[word] ?? 'open')}, t('state.' + word))));
      return cellOf;
    }
    const content = text(v);
    if (type === 'CODE') {
      // May break behind what separates parameters, and is copied without the breaks.
      const parts = content.split(/(?<=[;/,:] ?)/);
      return make('td', {class: content.length > LONG ? 'code long' : 'code'}, ...parts.flatMap((p, i) => (i ? [make('wbr'), p] : [p])));
    }
    return make('td', {class: content.length <= SHORT ? 'short' : content.length > LONG ? 'long' : 'some'}, ...spoken(v));
  }

  function kind(word) {
    return make('span', {class: 'kind ' + word}, t('kind.' + word));
  }

  // ---- charts

  class ChartView {
    constructor(spec, parent) {
      this.spec = spec;
      this.drawn = null;
      this.readout = make('div', {class: 'readout'}, t('ui.hover'));
      const names = spec.x.categories;
      this.plot = make('div', {
        class: 'plot',
        tabindex: '0',
        role: 'img',
        'data-chart': spec.id,
        'aria-label': this.summary(),
        onkeydown: event => this.key(event),
      });
      const minimum = names && names.length > 8 ? Math.min(1200, names.length * 26) : 0;
      if (minimum) {
        this.plot.style.minWidth = minimum + 'px';
      }
      this.legend = make('ul', {class: 'legend'});
      this.table = make('div', {});
      const details = make('details', {
        class: 'data no-print',
        ontoggle: () => {
          if (details.open && !this.table.firstChild) {
            this.view = new TableView(this.asTable(), this.table);
            tables.push(this.view);
          }
        },
      }, make('summary', {}, t('ui.data_table')), this.table);
      this.element = make('figure', {class: names && names.length > 10 ? 'wide' : ''},
        make('figcaption', {}, text(spec.title)),
        notes(spec.notes),
        make('div', {class: 'scroll'}, this.plot),
        this.legend,
        this.readout,
        make('div', {class: 'tools'}, download(spec.id, () => csvOf(this.asTable()))),
        details);
      parent.append(this.element);
    }

    /** The text alternative: what is shown, of what kind, and between which ends. */
    summary() {
      const names = this.spec.series.filter(s => s.x.length)
        .map(s => `${text(s.name)} (${t('kind.' + s.kind)}, ${t('ui.points', {count: s.x.length})})`);
      const ys = this.spec.series.filter(s => s.shape !== 'RULE').flatMap(s => s.y);
      const ends = ys.length
        ? t('ui.from_to', {
            name: text(this.spec.y.label),
            low: value(ys.reduce((a, b) => Math.min(a, b)), this.spec.y.type),
            high: value(ys.reduce((a, b) => Math.max(a, b)), this.spec.y.type),
          })
        : '';
      const most = 12;
      const listed = names.slice(0, most).join('; ') + (names.length > most ? '; …' : '');
      return `${text(this.spec.title)}. ${listed}. ${ends} ${t('ui.keys')}`;
    }

    /** The numbers of the chart, as any other table. */
    asTable() {
      const {x, y} = this.spec;
      const interval = this.spec.series.some(s => s.low.some(v => v !== null));
      const columns = [
        {name: 'series', heading: {key: 'column.series'}, type: 'TEXT'},
        {name: 'kind', heading: {key: 'column.kind'}, type: 'KIND'},
        {name: x.name, heading: x.label, type: x.type},
        {name: y.name, heading: y.label, type: y.type},
      ];
      if (interval) {
        columns.push({name: 'low', heading: {key: 'column.low'}, type: y.type},
          {name: 'high', heading: {key: 'column.high'}, type: y.type});
      }
      columns.push({name: 'case', heading: {key: 'column.case'}, type: 'CODE'});
      const rows = [];
      const cases = [];
      this.spec.series.forEach(s => s.x.forEach((v, i) => {
        const row = [s.name, s.kind, x.categories ? x.categories[v] : v, s.y[i]];
        if (interval) {
          row.push(s.low[i], s.high[i]);
        }
        row.push(caseOf(s.cases[i])?.id ?? '');
        rows.push(row);
        cases.push(s.cases[i]);
      }));
      return {id: this.spec.id, title: this.spec.title, columns, rows, cases, command: this.spec.command};
    }

    draw() {
      this.drawn?.destroy();
      this.plot.replaceChildren();
      this.shown = narrowed(this.spec);
      this.drawn = Charts.draw(this.plot, this.shown, kept, say, p => this.told(p), printing ? PAPER_WIDTH : 0);
      this.plot.dataset.points = this.drawn.points;
      this.plot.dataset.categories = this.shown.x.categories?.length ?? 0;
      this.legend.replaceChildren();
      const kinds = new Set(this.spec.series.filter(s => s.x.length).map(s => s.kind));
      if (kinds.size === 1) {
        this.legend.append(make('li', {}, kind([...kinds][0])));
      }
      this.spec.series.forEach((series, s) => {
        if (series.x.length) {
          this.legend.append(make('li', {}, Charts.swatch(this.spec, s), text(series.name),
            kinds.size === 1 ? '' : kind(series.kind)));
        }
      });
    }

    told(p) {
      if (!p) {
        return;
      }
      const {x, y, series} = this.shown;
      const of = series[p.s];
      const at = x.categories ? x.categories[p.x] : value(p.x, x.type);
      const interval = p.low === null ? '' : ` (${value(p.low, y.type)} – ${value(p.high, y.type)})`;
      const id = caseOf(p.caseIndex)?.id;
      this.readout.textContent =
        `${text(of.name)}, ${t('kind.' + of.kind)}: ${text(x.label)} ${at}, ${text(y.label)} ${value(p.y, y.type)}${interval}${id ? ' · ' + id : ''}`;
    }

    key(event) {
      const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10}[event.key];
      if (step) {
        this.drawn?.select(step);
      } else if (event.key === 'Home' || event.key === 'End') {
        this.drawn?.edge(event.key === 'End');
      } else {
        return;
      }
      event.preventDefault();
      announce(this.readout.textContent);
    }
  }

  function csvOf(spec) {
    return TableView.prototype.csv.call({spec, command: i => TableView.prototype.command.call({spec}, i)});
  }

  function notes(list) {
    if (!list?.length) {
      return null;
    }
    const element = make('ul', {class: 'notes'});
    list.forEach(n => element.append(make('li', {}, ...spoken(n))));
    return element;
  }

  /** Of an axis of words only those with a case that the filter leaves. */
  function narrowed(spec) {
    const names = spec.x.categories;
    if (!names || !words.length || !spec.series.some(s => s.cases.some(c => c >= 0))) {
      return spec;
    }
    const places = new Set(spec.series.flatMap(s => s.x.filter((v, i) => s.cases[i] >= 0 && kept(s.cases[i]))));
    const left = names.map((n, i) => i).filter(i => places.has(i));
    const moved = new Map(left.map((v, i) => [v, i]));
    return {
      ...spec,
      x: {...spec.x, categories: left.map(i => names[i])},
      series: spec.series.map(s => {
        const at = s.x.map((v, i) => i).filter(i => moved.has(s.x[i]));
        const pick = list => at.map(i => list[i]);
        return {...s, x: pick(s.x).map(v => moved.get(v)), y: pick(s.y), low: pick(s.low), high: pick(s.high), cases: pick(s.cases)};
      }),
    };
  }

  /** Charts are drawn between other work, so that text and tables are there first. */
  function drawPending() {
    const next = charts.find(c => !c.drawn);
    if (next) {
      next.draw();
      setTimeout(drawPending);
    } else {
      document.documentElement.dataset.ready = 'true';
    }
  }

  // ---- samples

  function sampleData() {
    samples ??= parse('samples-data');
    return samples;
  }

  function hasSamples(index) {
    return String(index) in sampleData();
  }

  /** Distribution and course of the samples of one case. */
  class SampleView {
    constructor(parent) {
      this.choice = make('select', {id: 'sample-case', onchange: event => this.select(Number(event.target.value), false)});
      this.note = make('p', {class: 'quiet'});
      this.figures = make('div', {class: 'charts'});
      this.own = [];
      parent.append(make('label', {for: 'sample-case'}, t('ui.sample_case')), ' ', this.choice, this.note, this.figures);
      this.fill();
    }

    fill() {
      const all = Object.keys(sampleData()).map(Number).filter(kept);
      this.choice.replaceChildren();
      all.slice(0, MOST_OPTIONS).forEach(i => this.choice.append(this.option(i)));
      if (!all.includes(state.selected)) {
        state.selected = all[0] ?? -1;
      }
      if (state.selected >= 0) {
        this.select(state.selected, false);
      }
      this.more = all.length > MOST_OPTIONS ? t('ui.more_cases', {shown: MOST_OPTIONS, all: all.length}) : '';
    }

    option(i) {
      const several = data.runs.length > 1 ? data.runs[caseOf(i).run].letter + ' ' : '';
      return make('option', {value: i}, several + caseOf(i).id);
    }

    select(index, scroll) {
      state.selected = index;
      if (![...this.choice.options].some(o => Number(o.value) === index)) {
        this.choice.prepend(this.option(index));
      }
      this.choice.value = index;
      const of = sampleData()[index];
      this.own.forEach(v => {
        v.drawn?.destroy();
        charts.splice(charts.indexOf(v), 1);
      });
      this.figures.replaceChildren();
      this.own = [];
      const lines = [t('ui.sample_count', {count: of.count, forks: of.forks.length})];
      if (of.every > 1) {
        lines.push(t('ui.sample_every', {every: of.every}));
      }
      if (!of.clock) {
        lines.push(t('ui.no_clock'));
      }
      if (this.more) {
        lines.push(this.more);
      }
      this.note.textContent = lines.join(' ');
      this.specs(index, of).forEach(spec => {
        const view = new ChartView(spec, this.figures);
        charts.push(view);
        this.own.push(view);
        if (this.figures.isConnected) {
          view.draw(); // Else with all others, once it has a width.
        }
      });
      if (scroll) {
        document.getElementById('samples').scrollIntoView();
        this.choice.focus();
      }
    }

    specs(index, of) {
      const name = caseOf(index).id;
      const axis = (label, type) => ({label: {key: 'axis.' + label}, name: label, type, log: false});
      const series = (message, shape, points) => ({
        name: message, kind: 'MEASURED', shape,
        x: points.map(p => p[0]), y: points.map(p => p[1]),
        low: points.map(() => null), high: points.map(() => null), cases: points.map(() => index),
      });
      const spec = (id, x, y, all) => ({
        id: 'samples-' + id, title: {key: 'chart.samples_' + id, args: {name}}, x, y, notes: [], series: all,
      });
      const values = of.forks.flat();
      const sorted = [...values].sort((a, b) => a - b);
      // A few samples far out would press the rest into one line.
      const wide = sorted[sorted.length - 1] > 5 * sorted[Math.floor(sorted.length / 2)];
      const time = {...axis(of.metric === 'host.time' ? 'host_time' : 'device_time', 'TIME_US'), log: wide};
      const made = [];
      const bins = wide
        ? histogram(sorted.map(Math.log)).map(([v, n]) => [Math.exp(v), n])
        : histogram(sorted);
      made.push(spec('histogram', {...time, fromZero: false}, axis('count', 'COUNT'),
        [series({key: 'series.samples'}, 'STEPS', bins)]));
      made.push(spec('cdf', {...time, fromZero: false}, axis('share_up_to', 'PERCENT'),
        [series({key: 'series.samples'}, 'STEPS', sorted.map((v, i) => [v, 100 * (i + 1) / sorted.length]))]));
      let n = 0;
      const course = of.forks.map((fork, f) =>
        series({key: 'series.fork', args: {number: String(f + 1)}}, 'POINTS', fork.map(v => [++n, v])));
      made.push(spec('course', axis('sample', 'COUNT'), time, course));
      if (of.clock) {
        let c = 0;
        made.push(spec('clock', axis('reading', 'COUNT'), axis('clock_mhz', 'NUMBER'), of.clock.map((fork, f) =>
          series({key: 'series.fork', args: {number: String(f + 1)}}, 'LINE', fork.map(v => [++c, v])))));
      }
      return made;
    }
  }

  /** Counts between equal edges: by Freedman and Diaconis, at least 10 and at most 60 of them. */
  function histogram(sorted) {
    const n = sorted.length;
    const [low, high] = [sorted[0], sorted[n - 1]];
    if (high === low) {
      const reach = Math.abs(low) / 100 || 0.01;
      return [[low - reach, 0], [low, n], [low + reach, 0]];
    }
    const iqr = sorted[Math.floor(0.75 * (n - 1))] - sorted[Math.floor(0.25 * (n - 1))];
    const width = 2 * iqr / Math.cbrt(n);
    const bins = Math.max(10, Math.min(60, width > 0 ? Math.ceil((high - low) / width) : 10));
    const counts = new Array(bins).fill(0);
    sorted.forEach(v => counts[Math.min(bins - 1, Math.floor((v - low) / (high - low) * bins))]++);
    const step = (high - low) / bins;
    const edges = counts.map((c, i) => [low + i * step, c]);
    return [[low - step / 100, 0], ...edges, [high, counts[bins - 1]], [high + step / 100, 0]];
  }

  // ---- the page

  function section(spec) {
    const element = make('section', {id: spec.id, 'aria-labelledby': 'h-' + spec.id},
      make('h2', {id: 'h-' + spec.id}, text(spec.title)), notes(spec.notes));
    let grid = null;
    spec.parts.forEach(part => {
      if (part.chart) {
        if (!grid) {
          grid = make('div', {class: 'charts'});
          element.append(grid);
        }
        charts.push(new ChartView(part.chart, grid));
      } else {
        grid = null;
        element.append(make('h3', {}, text(part.table.title)));
        tables.push(new TableView(part.table, element));
      }
    });
    if (spec.id === 'samples' && Object.keys(sampleData()).length) {
      viewer = new SampleView(element);
    }
    return element;
  }

  function verdict() {
    const lines = make('ul', {});
    data.verdict.lines.forEach(l => lines.append(make('li', {}, ...spoken(l))));
    return make('section', {id: 'verdict', class: 'verdict ' + data.verdict.state, 'aria-labelledby': 'h-verdict'},
      make('h2', {id: 'h-verdict', class: 'only-read'}, t('section.verdict')),
      make('p', {class: 'headline'}, text(data.verdict.headline)), lines);
  }

  function choice(name, label, values) {
    const select = make('select', {
      id: name,
      onchange: event => {
        state[name] = event.target.value;
        store(name, state[name]);
        build();
        document.getElementById(name).focus();
      },
    });
    values.forEach(([v, content]) => select.append(make('option', {value: v, selected: state[name] === v}, content)));
    return make('label', {for: name}, label, select);
  }

  function head() {
    let timer = 0;
    const filter = make('input', {
      id: 'filter',
      type: 'search',
      placeholder: t('ui.filter_example'),
      autocomplete: 'off',
      oninput: event => {
        clearTimeout(timer);
        timer = setTimeout(() => setFilter(event.target.value), 150);
      },
    });
    filter.value = state.filter;
    const list = make('ul', {});
    data.sections.forEach(s => list.append(make('li', {}, make('a', {href: '#' + s.id}, text(s.title)))));
    return [
      make('h1', {}, data.title),
      make('p', {class: 'quiet'}, t('ui.made', {time: data.generated})),
      make('div', {class: 'controls', role: 'group', 'aria-label': t('ui.controls')},
        make('label', {for: 'filter', class: 'filter'}, t('ui.filter'), filter),
        choice('language', t('ui.language'), [['en', 'English'], ['zh', '中文']]),
        choice('theme', t('ui.theme'), [['auto', t('ui.auto')], ['light', t('ui.light')], ['dark', t('ui.dark')]])),
      make('nav', {'aria-label': t('ui.contents')}, list),
      legend(),
    ];
  }

  /** How a number was got: shown once before any of them. */
  function legend() {
    return make('p', {class: 'quiet kinds'}, t('ui.kinds') + ' ',
      ...['MEASURED', 'PREDICTED', 'SHEET', 'LIMIT'].flatMap(k => [kind(k), ' ']), t('ui.kinds_how'));
  }

  function setFilter(content) {
    state.filter = content;
    words = content.toLowerCase().split(/\s+/).filter(w => w);
    tables.forEach(view => {
      view.page = 0;
      view.fill();
    });
    viewer?.fill();
    charts.forEach(c => c.draw());
    announce(t('ui.filtered', {count: data.cases.filter((c, i) => kept(i)).length, all: data.cases.length}));
  }

  function paint() {
    const isDark = !printing && (state.theme === 'dark' || state.theme === 'auto' && dark.matches);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  }

  function build() {
    document.documentElement.dataset.ready = 'false';
    document.documentElement.lang = state.language === 'zh' ? 'zh-CN' : 'en';
    paint();
    charts.splice(0).forEach(c => c.drawn?.destroy());
    tables.length = 0;
    viewer = null;
    document.getElementById('skip').textContent = t('ui.skip');
    document.getElementById('top').replaceChildren(...head());
    document.getElementById('main').replaceChildren(verdict(), ...data.sections.map(section));
    document.getElementById('end').replaceChildren(
      make('p', {}, t('ui.footer')),
      make('p', {class: 'only-print'}, t('ui.closed')),
      ...(data.command ? [make('p', {}, t('ui.made_by') + ' ', make('code', {}, data.command), ' ', copyButton(data.command, t('ui.report')))] : []),
      make('p', {}, t('ui.library')));
    drawPending();
  }

  function redraw() {
    paint();
    charts.forEach(c => c.draw());
  }

  dark.addEventListener('change', () => state.theme === 'auto' && redraw());

  /** On paper a table cannot be leafed through, and everything is light. */
  function print(begins) {
    if (printing !== begins) {
      printing = begins;
      tables.forEach(view => view.printed());
      redraw();
    }
  }

  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  // Tools that make a page look as printed, without an event.
  matchMedia('print').addEventListener('change', event => print(event.matches));
  let resizing = 0;
  addEventListener('resize', () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => charts.forEach(c => c.drawn?.resize()), 100);
  });
  build();
})();
