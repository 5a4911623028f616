/* tpcc: the new-order transaction of TPC-C, as cut for COSPlay (MICRO 2021), Table 3, and DPO (MICRO 2016), Table III:
 * 5 to 15 distinct items, sorted; locks the district and each stock row; order number, order, new-order, order lines,
 * stock. Customers, items and stock rows are found through hash indexes. */
#define PACKED
#include "undo.h"
#include <string.h>

#ifndef DISTRICTS
#define DISTRICTS 10
#endif
#ifndef CUSTOMERS
#define CUSTOMERS 300
#endif
#ifndef ITEMS
#define ITEMS 1000
#endif
#ifndef ORDERS
#define ORDERS 100
#endif
#ifndef NEW_ORDERS
#define NEW_ORDERS 100
#endif

#define MIN_LINES 5
#define MAX_LINES 15
#define TEXT 24

struct district {
    uint32_t next_order, tax;
    char more[48];
    word trailer_of_first;
    char rest[39];
    word trailer;
} ALIGNED;

#define DISTRICT_BYTES 95

struct customer {
    uint32_t number, discount;
    char last_name[16];
    char credit[2];
    char more[741];
} ALIGNED;

struct item {
    uint32_t number, price;
    char name[TEXT];
    char more[96];
} ALIGNED;

/* The text of the first district is the second of the first line; the last line has one. */
struct stock {
    struct {
        union {
            struct {
                uint32_t number, quantity, year_to_date, order_count;
            };
            struct {
                char data[8], texts[2][TEXT];
            };
        };
        word trailer;
    } lines[1 + DISTRICTS / 2];
} ALIGNED;

#define STOCK_BYTES (5 * 56 + 32)

struct order {
    uint32_t id, customer;
    word entry_date;
    uint32_t lines, all_local;
    word unused[4];
    word trailer;
} ALIGNED;

struct new_order {
    word id;
    word unused[6];
    word trailer;
} ALIGNED;

struct order_line {
    uint32_t order, number, item, warehouse;
    word delivery_date;
    uint32_t quantity, amount;
    char text[TEXT];
    word trailer;
} ALIGNED;

static word warehouse_tax;
static struct district districts[DISTRICTS];
static struct customer customers[DISTRICTS][CUSTOMERS];
static struct item items[ITEMS];
static struct stock stock[ITEMS];
static struct order orders[DISTRICTS][ORDERS];
static struct new_order new_orders[DISTRICTS][NEW_ORDERS];
static struct order_line order_lines[DISTRICTS][ORDERS][MAX_LINES];
static lock_t district_locks[DISTRICTS], stock_locks[ITEMS];

/* Slots are probed one after the other from the hash of the key on; at most half of them are used. */
struct index {
    struct { word key; void *row; } *slots;
    word shift, mask;
};

static struct index customer_index, item_index, stock_index;

static word index_slot(const struct index *index, word key)
{
    return key * 0x9e3779b97f4a7c15 >> index->shift;
}

static void index_build(struct index *index, void *rows, word count, word bytes)
{
    word bits = 0;
    while ((word)1 << bits < 2 * count)
        bits++;
    index->shift = 64 - bits;
    index->mask = ((word)1 << bits) - 1;
    index->slots = calloc(index->mask + 1, sizeof *index->slots);
    for (word key = 0; key < count; key++) {
        word slot = index_slot(index, key);
        while (index->slots[slot].key != 0)
            slot = (slot + 1) & index->mask;
        index->slots[slot].key = key + 1;
        index->slots[slot].row = (char *)rows + key * bytes;
    }
}

static void *index_find(const struct index *index, word key)
{
    word slot = index_slot(index, key);
    while (index->slots[slot].key != key + 1)
        slot = (slot + 1) & index->mask;
    return index->slots[slot].row;
}

/* What the terminal shows. */
static volatile word shown_total;
static char shown_name[16], shown_credit[2], shown_item[TEXT];

void build(void)
{
    for (word i = 0; i < DISTRICTS; i++) {
        districts[i].next_order = 1;
        lock_init(&district_locks[i]);
    }
    for (word i = 0; i < ITEMS; i++) {
        items[i].price = 100 + i;
        stock[i].lines[0].quantity = 10 + i % 91;
        lock_init(&stock_locks[i]);
    }
    index_build(&customer_index, customers, DISTRICTS * CUSTOMERS, sizeof customers[0][0]);
    index_build(&item_index, items, ITEMS, sizeof items[0]);
    index_build(&stock_index, stock, ITEMS, sizeof stock[0]);
}

static int contains(const word *list, word count, word value)
{
    for (word i = 0; i < count; i++)
        if (list[i] == value)
            return 1;
    return 0;
}

static void insert(word *list, word count, word value)
{
    for (; count > 0 && list[count - 1] > value; count--)
        list[count] = list[count - 1];
    list[count] = value;
}

static word draw_items(word *list, word count)
{
    for (word drawn = 0; drawn < count;) {
        word item = random_below(ITEMS);
        if (!contains(list, drawn, item))
            insert(list, drawn++, item);
    }
    return count;
}

static word take_id(struct district *row)
{
    region_log_packed(row, DISTRICT_BYTES);
    region_order(MORE);
    word id = row->next_order++;
    region_finish(MORE);
    return id;
}

static void write_order(word district, word customer, word lines, word id)
{
    struct order *row = &orders[district][id % ORDERS];
    struct new_order *new = &new_orders[district][id % NEW_ORDERS];
    region_log_packed(row, 24);
    region_log_packed(new, 8);
    region_order(MORE);
    row->id = (uint32_t)id;
    row->customer = (uint32_t)customer;
    row->entry_date = 0;
    row->lines = (uint32_t)lines;
    row->all_local = 1;
    new->id = id;
    region_finish(MORE);
}

static void update_stock(struct stock *row, word quantity)
{
    word left = row->lines[0].quantity;
    row->lines[0].quantity = (uint32_t)(left >= quantity + 10 ? left - quantity : left - quantity + 91);
    row->lines[0].year_to_date += (uint32_t)quantity;
    row->lines[0].order_count++;
}

static word write_line(word district, word id, word k, word item, enum step step)
{
    struct order_line *row = &order_lines[district][id % ORDERS][k];
    const struct item *bought = index_find(&item_index, item);
    struct stock *from = index_find(&stock_index, item);
    word quantity = random_below(10) + 1, amount = bought->price * quantity;
    memcpy(shown_item, bought->name, TEXT);
    region_log_packed(from, STOCK_BYTES);
    region_log_packed(row, sizeof *row - 8);
    region_order(step);
    update_stock(from, quantity);
    row->order = (uint32_t)id;
    row->number = (uint32_t)k + 1;
    row->item = (uint32_t)item;
    row->warehouse = 0;
    row->delivery_date = 0;
    row->quantity = (uint32_t)quantity;
    row->amount = (uint32_t)amount;
    memcpy(row->text, from->lines[(district + 1) / 2].texts[(district + 1) % 2], TEXT);
    region_finish(step);
    (void)step;
    return amount;
}

static void write_all(word district, word customer, const word *list, word count)
{
    const struct customer *buyer = index_find(&customer_index, district * CUSTOMERS + customer);
    word taxes = warehouse_tax + districts[district].tax, total = 0;
    memcpy(shown_credit, buyer->credit, sizeof shown_credit);
    memcpy(shown_name, buyer->last_name, sizeof shown_name);
    region_begin();
    word id = take_id(&districts[district]);
    write_order(district, customer, count, id);
    for (word k = 0; k < count; k++)
        total += write_line(district, id, k, list[k], k + 1 < count ? MORE : LAST);
    shown_total = total * (10000 - buyer->discount) * (taxes + 10000);
}

void operation(void)
{
    word list[MAX_LINES];
    word district = random_below(DISTRICTS), customer = random_below(CUSTOMERS);
    word count = draw_items(list, random_below(MAX_LINES - MIN_LINES + 1) + MIN_LINES);
    lock_take(&district_locks[district]);
    for (word k = 0; k < count; k++)
        lock_take(&stock_locks[list[k]]);
    write_all(district, customer, list, count);
    for (word k = count; k > 0; k--)
        lock_leave(&stock_locks[list[k - 1]]);
    lock_leave(&district_locks[district]);
}

/* Every item that a kept order has was counted out of the stock. */
int check(void)
{
    for (word d = 0; d < DISTRICTS; d++)
        for (word id = districts[d].next_order; id-- > 1 && id + ORDERS > districts[d].next_order;) {
            struct order *order = &orders[d][id % ORDERS];
            if (order->id != id || order->lines < MIN_LINES || order->lines > MAX_LINES)
                return 0;
            for (word k = 0; k < order->lines; k++) {
                struct order_line *line = &order_lines[d][id % ORDERS][k];
                if (line->order != id || line->number != k + 1 || stock[line->item].lines[0].order_count == 0)
                    return 0;
            }
        }
    return 1;
}
