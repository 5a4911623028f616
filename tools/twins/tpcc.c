/* tpcc: the new-order transaction of TPC-C, as cut for COSPlay (MICRO 2021), Table 3, and DPO (MICRO 2016), Table III:
 * 5 to 15 distinct items, sorted; locks the district and each stock row; order number, order, new-order, order lines,
 * stock. */
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
    word next_order, tax;
    word more[5];
    word trailer_of_first;
    word rest[5];
    word unused[2];
    word trailer;
} ALIGNED;

struct customer {
    word discount, credit;
    char last_name[16];
    word more[92];
} ALIGNED;

struct item {
    word price;
    char name[TEXT];
    word more[12];
} ALIGNED;

struct stock {
    uint32_t quantity, order_count, year_to_date, remote_count;
    char data[16];
    word unused[3];
    word trailer;
    struct {
        char texts[2][TEXT];
        word more;
        word trailer;
    } districts[DISTRICTS / 2];
} ALIGNED;

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

/* What the terminal shows. */
static volatile word shown_total, shown_credit;
static char shown_name[16], shown_item[TEXT];

void build(void)
{
    for (word i = 0; i < DISTRICTS; i++) {
        districts[i].next_order = 1;
        lock_init(&district_locks[i]);
    }
    for (word i = 0; i < ITEMS; i++) {
        items[i].price = 100 + i;
        stock[i].quantity = 10 + i % 91;
        lock_init(&stock_locks[i]);
    }
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
    region_log_lines(row, 1);
    region_log(row->rest, sizeof row->rest);
    region_order(MORE);
    word id = row->next_order++;
    region_finish(MORE);
    return id;
}

static void write_order(word district, word customer, word lines, word id)
{
    struct order *row = &orders[district][id % ORDERS];
    struct new_order *new = &new_orders[district][id % NEW_ORDERS];
    region_log(row, 24);
    region_log(new, 8);
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
    word left = row->quantity;
    row->quantity = (uint32_t)(left >= quantity + 10 ? left - quantity : left - quantity + 91);
    row->year_to_date += (uint32_t)quantity;
    row->order_count++;
}

static word write_line(word district, word id, word k, word item, enum step step)
{
    struct order_line *row = &order_lines[district][id % ORDERS][k];
    struct stock *from = &stock[item];
    word quantity = random_below(10) + 1, amount = items[item].price * quantity;
    memcpy(shown_item, items[item].name, TEXT);
    region_log(from, 32);
    region_log_lines(from->districts, DISTRICTS / 2);
    region_log(row, sizeof *row - 8);
    region_order(step);
    update_stock(from, quantity);
    row->order = (uint32_t)id;
    row->number = (uint32_t)k + 1;
    row->item = (uint32_t)item;
    row->warehouse = 0;
    row->delivery_date = 0;
    row->quantity = (uint32_t)quantity;
    row->amount = (uint32_t)amount;
    memcpy(row->text, from->districts[district / 2].texts[district % 2], TEXT);
    region_finish(step);
    (void)step;
    return amount;
}

static void write_all(word district, word customer, const word *list, word count)
{
    struct customer *buyer = &customers[district][customer];
    word taxes = warehouse_tax + districts[district].tax, total = 0;
    shown_credit = buyer->credit;
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
                if (line->order != id || line->number != k + 1 || stock[line->item].order_count == 0)
                    return 0;
            }
        }
    return 1;
}
